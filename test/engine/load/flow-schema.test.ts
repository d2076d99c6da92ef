import { readFile } from 'node:fs/promises';
import { test } from 'tap';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { flowFileSchema, optionsSchema } from '../../../src/engine/load/flow-schema.ts';
import { kinds } from '../../../src/nodes/index.ts';
import { testKinds } from './test-kinds.ts';

const schema = JSON.parse(JSON.stringify(flowFileSchema(testKinds)));
const flow = (small: object) => ({
  flowId: 'x',
  name: 'X',
  nodes: { photo: { type: 'source' }, small },
  edges: [{ source: 'photo', target: 'small' }],
});

test('the JSON Schema knows every kind with its options', async (t) => {
  t.ok(Value.Check(schema, { $schema: './flow.schema.json', ...flow({ type: 'scale', options: { width: 5 } }) }));
  t.ok(Value.Check(schema, flow({ type: 'encode', options: { format: 'webp' }, keepOutput: true })));
  t.notOk(Value.Check(schema, flow({ type: 'scale', options: { widht: 5 } })));
  t.notOk(Value.Check(schema, flow({ type: 'encode' })), 'options are required where one of them is');
  t.notOk(Value.Check(schema, flow({ type: 'resiz' })));
  t.notOk(Value.Check(schema, { ...flow({ type: 'scale' }), extra: 1 }));
});

test('the JSON Schema takes a template for every option, and for what is inside of one', async (t) => {
  const options = { width: '{{params.width}}', fit: '{{ meta.fit }}', region: { top: '{{index}}' } };
  t.ok(Value.Check(schema, flow({ type: 'scale', options })));
  t.ok(Value.Check(schema, flow({ type: 'scale', options: { region: 'x{{params.region}}' } })));
  t.notOk(Value.Check(schema, flow({ type: 'scale', options: { width: 'wide' } })));
  t.notOk(Value.Check(schema, flow({ type: 'scale', options: { width: '{{' } })));
  t.notOk(Value.Check(schema, flow({ type: 'scale', options: { widht: '{{index}}' } })));
  const upload = { type: 'file-input', options: { maxFileSize: '{{params.size}}' } };
  t.notOk(Value.Check(flowFileSchema(kinds), { ...flow({ type: 'output' }), nodes: { photo: upload } }));
});

test('descriptions and defaults stay where editors look for them', async (t) => {
  const shipped = JSON.stringify(flowFileSchema(kinds));
  t.match(shipped, '"fit":{"description":"With both sides given:');
  t.match(shipped, '"default":"inside","anyOf":[{');
});

test('the shipped flows fit the JSON Schema of the shipped kinds', async (t) => {
  const shipped = flowFileSchema(kinds);
  for (const name of ['web-image.json', 'thumbnail.yaml']) {
    const text = await readFile(new URL(`../../../flows/${name}`, import.meta.url), 'utf8');
    t.same(Value.Errors(shipped, parse(text)), [], name);
  }
});

test('unknown options are refused also where a kind forgot to say so', async (t) => {
  const forgetful = Type.Object(testKinds.scale.options.properties);
  t.ok(Value.Check(forgetful, { widht: 1 }));
  t.notOk(Value.Check(optionsSchema({ ...testKinds.scale, options: forgetful }), { widht: 1 }));
});
