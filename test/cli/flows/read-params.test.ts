import { test } from 'tap';
import { readParams } from '../../../src/cli/flows/read-params.ts';
import type { FlowDefinition } from '../../../src/domain/flow.ts';

const plain: FlowDefinition = { flowId: 'x', name: 'X', nodes: {}, edges: [] };
const flow: FlowDefinition = {
  ...plain,
  params: {
    type: 'object',
    required: ['width'],
    properties: {
      width: { type: 'integer' },
      label: { type: 'string', default: 'none' },
      round: { type: 'boolean' },
      sizes: { type: 'array', items: { type: 'number' } },
      frame: { type: 'object', properties: { colour: { type: 'string' } } },
    },
  },
};

test('each parameter has the type that the flow wants', async (t) => {
  const pairs = ['width=800', 'label=7', 'round=true', 'sizes=[1, 2.5]', 'frame={"colour": "a=b"}'];
  t.strictSame(readParams(flow, pairs), {
    width: 800,
    label: '7',
    round: true,
    sizes: [1, 2.5],
    frame: { colour: 'a=b' },
  });
  t.strictSame(readParams(flow, ['width=1', 'label=']), { width: 1, label: '' });
  t.strictSame(readParams(plain, []), {});
});

test('what the flow does not take is told by its name', async (t) => {
  const wrong: readonly (readonly [pairs: readonly string[], message: RegExp])[] = [
    [[], /^--param width is missing$/],
    [['width=wide'], /^--param width must be integer$/],
    [['width=1', 'widht=2'], /^--param widht is not a known field; known: width, label, round, sizes, frame$/],
    [['width'], /^"width" is not as in --param key=value$/],
  ];
  for (const [pairs, message] of wrong) t.throws(() => readParams(flow, pairs), { exitCode: 2, message });
  t.throws(() => readParams(plain, ['width=1']), {
    exitCode: 2,
    message: /^--param is not taken: flow "x" has no params$/,
  });
});
