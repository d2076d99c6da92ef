import { test } from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { Params, ParamsSchema } from '../../src/domain/params.ts';
import { readParams } from '../../src/engine/params.ts';

const schema: ParamsSchema = {
  type: 'object',
  required: ['width'],
  properties: {
    width: { type: 'integer', minimum: 1 },
    format: { type: 'string', enum: ['webp', 'avif'], default: 'webp' },
    frame: { type: 'object', properties: { colour: { type: 'string', default: 'red' } }, required: ['colour'] },
    sizes: { type: 'array', items: { type: 'integer' } },
  },
};
const flow: FlowDefinition = { flowId: 'x', name: 'X', nodes: {}, edges: [], params: schema };
const { params: _, ...bare } = flow;
const read = (given: Params | undefined) => readParams(flow, given);

test('what fits is taken as it is, with defaults', async (t) => {
  t.strictSame(read({ width: 5 }), { width: 5, format: 'webp' });
  t.strictSame(read({ width: 5, format: 'avif', frame: {}, sizes: [1, 2] }), {
    width: 5,
    format: 'avif',
    frame: { colour: 'red' },
    sizes: [1, 2],
  });
});

const refused: readonly (readonly [given: Params | undefined, field: string, message: string])[] = [
  [undefined, 'body.params.width', 'body.params.width is missing'],
  [{}, 'body.params.width', 'body.params.width is missing'],
  [{ width: '5' }, 'body.params.width', 'body.params.width must be integer'],
  [{ width: 0 }, 'body.params.width', 'body.params.width must be >= 1'],
  [{ width: null }, 'body.params.width', 'body.params.width must be integer'],
  [{ width: 5, format: 'gif' }, 'body.params.format', 'body.params.format must be one of "webp", "avif"'],
  [{ width: 5, frame: [] }, 'body.params.frame', 'body.params.frame must be object'],
  [{ width: 5, sizes: [1, 'x'] }, 'body.params.sizes.1', 'body.params.sizes.1 must be integer'],
  [
    { width: 5, heigth: 1 },
    'body.params.heigth',
    'body.params.heigth is not a known field; known: width, format, frame, sizes',
  ],
  [
    { width: 5, frame: { colour: 'blue', constructor: 1 } },
    'body.params.frame.constructor',
    'body.params.frame.constructor is not a known field; known: colour',
  ],
];
for (const [given, field, message] of refused) {
  test(`refused: ${JSON.stringify(given)}`, async (t) => {
    t.throws(() => read(given), { code: 'VALIDATION_ERROR', message, details: { field } });
  });
}

test('a name that all objects inherit is no parameter', async (t) => {
  t.throws(() => read(JSON.parse('{"width":5,"__proto__":{"format":"avif"}}')), { code: 'VALIDATION_ERROR' });
});

test('all problems are listed, up to a bound', async (t) => {
  const sizes = Array.from({ length: 1000 }, () => 'x');
  try {
    read({ sizes });
    t.fail('nothing was thrown');
  } catch (error) {
    t.equal((error as { details: { problems: unknown[] } }).details.problems.length, 20);
  }
});

test('a flow without params takes none', async (t) => {
  t.equal(readParams(bare, undefined), undefined);
  t.equal(readParams(bare, {}), undefined);
  t.throws(() => readParams(bare, { width: 5 }), {
    code: 'VALIDATION_ERROR',
    message: 'body.params is not taken: flow "x" has no params',
    details: { field: 'body.params' },
  });
});
