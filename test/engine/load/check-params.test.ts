import { test } from 'tap';
import { paramsProblems } from '../../../src/engine/load/check-params.ts';
import { loadTexts, problemsOf } from './flow-folder.ts';

/** A flow whose `params` begin in line 5. */
const flowWith = (params: string) => `flowId: x
name: X
nodes: { photo: { type: source } }
edges: []
params: ${params}`;

const flow = { flowId: 'x', name: 'X', nodes: { photo: { type: 'source' } }, edges: [] };

test('all that may be said of parameters', async (t) => {
  const params = {
    type: 'object',
    title: 'Size',
    required: ['width'],
    properties: {
      width: { type: 'integer', minimum: 1, maximum: 4000, default: 640, description: 'Pixels', examples: [1] },
      scale: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 2, multipleOf: 0.5 },
      label: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[a-z]+$', enum: ['a', 'b'], default: 'a' },
      sharp: { type: 'boolean', default: false },
      sizes: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3, default: [1] },
      frame: {
        type: 'object',
        default: {},
        required: ['colour'],
        properties: { colour: { type: 'string', default: 'red' } },
      },
      loose: { type: 'object', additionalProperties: true },
    },
  };
  const flows = await loadTexts(t, { 'x.json': JSON.stringify({ ...flow, params }) });
  t.strictSame(flows['x']?.params, params);
});

const properties = (text: string) => flowWith(`\n  type: object\n  properties:\n    a: ${text}`);

const refusals: readonly (readonly [title: string, yaml: string, problems: readonly string[]])[] = [
  [
    'no object',
    flowWith('[]'),
    [
      'flows/x.yaml:5:1 key "params" must be object',
      'flows/x.yaml:5:1 params: must be a JSON Schema, an object with a "type"',
    ],
  ],
  [
    'parameters that are not the properties of an object',
    flowWith('{ width: { type: integer } }'),
    ['flows/x.yaml:5:1 params: the type must be "object": its properties are the parameters'],
  ],
  [
    'a reference',
    properties('{ $ref: "https://example.com/a.json" }'),
    ['flows/x.yaml:8:5 params.properties.a: the type must be one of string, number, integer, boolean, array, object'],
  ],
  [
    'a reference beside a type',
    properties('{ type: string, $ref: "#/x" }'),
    [
      'flows/x.yaml:8:24 params.properties.a: unknown key "$ref"; known: type, title, description, default, enum, examples, minLength, maxLength, pattern',
    ],
  ],
  [
    'a keyword whose check takes time by the square of what a client sends',
    properties('{ type: array, uniqueItems: true }'),
    [
      'flows/x.yaml:8:23 params.properties.a: unknown key "uniqueItems"; known: type, title, description, default, enum, examples, items, minItems, maxItems',
    ],
  ],
  [
    'a keyword of another type',
    properties('{ type: boolean, minimum: 1 }'),
    [
      'flows/x.yaml:8:25 params.properties.a: unknown key "minimum"; known: type, title, description, default, enum, examples',
    ],
  ],
  [
    'a type that is one of all objects',
    properties('{ type: constructor }'),
    ['flows/x.yaml:8:10 params.properties.a: the type must be one of string, number, integer, boolean, array, object'],
  ],
  [
    'a list of types',
    properties('{ type: [string, number] }'),
    ['flows/x.yaml:8:10 params.properties.a: the type must be one of string, number, integer, boolean, array, object'],
  ],
  [
    'a bound that is text',
    properties('{ type: string, maxLength: "5" }'),
    ['flows/x.yaml:8:24 params.properties.a: key "maxLength" must be integer'],
  ],
  [
    'a pattern that is none',
    properties('{ type: string, pattern: "(" }'),
    ['flows/x.yaml:8:24 params.properties.a: the pattern is none'],
  ],
  [
    'a default that does not fit',
    properties('{ type: integer, minimum: 5, default: 1 }'),
    ['flows/x.yaml:8:37 params.properties.a: must be >= 5'],
  ],
  [
    'a default that is no choice',
    properties('{ type: string, enum: [b, c], default: a }'),
    ['flows/x.yaml:8:38 params.properties.a: must be one of "b", "c"'],
  ],
  [
    'a choice of another type',
    properties('{ type: string, enum: [b, 5] }'),
    ['flows/x.yaml:8:34 params.properties.a: must be string'],
  ],
  [
    'a name that templates cannot say',
    flowWith('{ type: object, properties: { "a.b": { type: string } } }'),
    ['flows/x.yaml:5:39 params: key "properties.a.b" the key must match ^(?!__proto__$)[A-Za-z0-9_-]{1,64}$'],
  ],
  [
    'something required that is not there',
    flowWith('{ type: object, properties: { a: { type: string } }, required: [b] }'),
    ['flows/x.yaml:5:73 params: "b" is none of the properties'],
  ],
];
for (const [title, yaml, problems] of refusals) {
  test(`refused: ${title}`, async (t) => t.same(await problemsOf(t, { 'x.yaml': yaml }), problems));
}

test('mistakes at every depth are all reported', async (t) => {
  const items =
    '{ type: array, items: { type: object, properties: { b: { type: nope }, c: { type: string, x: 1 } } } }';
  const problems = await problemsOf(t, { 'x.yaml': properties(items) });
  t.match(problems, [
    /params\.properties\.a\.items\.properties\.b: the type must be one of/,
    /params\.properties\.a\.items\.properties\.c: unknown key "x"/,
  ]);
});

test('nesting is bounded', async (t) => {
  const nested = (depth: number): object =>
    depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } };
  t.same(paramsProblems(nested(5)), []);
  t.match(paramsProblems(nested(6)), [{ message: /nests deeper than 5 levels$/ }]);
  t.match(paramsProblems(nested(2000)), [{ message: /nests deeper than 5 levels$/ }]);
});
