import { test } from 'tap';
import { type ParamsSchema, paramAt, strictParams, withDefaults } from '../../src/domain/params.ts';

const schema: ParamsSchema = {
  type: 'object',
  properties: {
    width: { type: 'integer', default: 640 },
    size: { type: 'object', properties: { unit: { type: 'string', default: 'px' }, side: { type: 'number' } } },
    frame: { type: 'object', default: {}, properties: { colour: { type: 'string', default: 'red' } } },
    list: { type: 'array', items: { type: 'object', properties: {} } },
    loose: { type: 'object', additionalProperties: true },
    bare: { type: 'array' },
  },
};

test('a parameter is found by its path, and only where it can be', async (t) => {
  t.match(paramAt(schema, ['size', 'unit']), { type: 'string' });
  t.match(paramAt(schema, ['list', '3']), { type: 'object' });
  t.equal(paramAt(schema, ['loose', 'x', 'y']), 'any');
  t.equal(paramAt(schema, ['bare', '0']), 'any');
  for (const path of [['other'], ['width', 'x'], ['list', 'length'], ['size', 'toString'], ['__proto__']]) {
    t.equal(paramAt(schema, path), undefined, path.join('.'));
  }
});

test('defaults are filled in, in objects that are there too, and nothing else changes', async (t) => {
  t.strictSame(withDefaults(schema, {}), { width: 640, frame: { colour: 'red' } });
  t.strictSame(withDefaults(schema, { width: 5, size: {}, frame: { colour: 'blue' }, more: 1 }), {
    width: 5,
    size: { unit: 'px' },
    frame: { colour: 'blue' },
    more: 1,
  });
  t.strictSame(withDefaults(schema, { size: 5, list: [] }), {
    width: 640,
    frame: { colour: 'red' },
    size: 5,
    list: [],
  });
});

test('objects take nothing that they do not name, at every depth, unless they say so', async (t) => {
  t.match(strictParams(schema), {
    additionalProperties: false,
    properties: {
      size: { additionalProperties: false },
      list: { items: { additionalProperties: false } },
      loose: { additionalProperties: true },
    },
  });
});
