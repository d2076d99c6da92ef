import { test } from 'tap';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import type { FlowDefinition } from '../../../src/domain/flow.ts';
import { checkDefinition, checkFlow } from '../../../src/engine/load/check-flow.ts';
import { FlowLoadError } from '../../../src/engine/load/flow-problem.ts';
import { problemsOf } from './flow-folder.ts';
import { scaleNode, sourceNode, testKinds } from './test-kinds.ts';

/** A flow with `node` at line 5, column 3, under the key `small`, and `extra` from line 9 on. */
const flowWith = (node: string, extra = '') => `flowId: x
name: X
nodes:
  photo: { type: source }
  ${node}
edges:
  - { source: photo, target: small }
# from here on
${extra}`;

const good = 'small: { type: scale, options: { width: 5 } }';

const refusals: readonly (readonly [title: string, yaml: string, problem: string])[] = [
  [
    'an unknown option, with the known ones',
    flowWith('small: { type: scale, options: { widht: 5, width: 5 } }'),
    'flows/x.yaml:5:36 node "small": unknown option "widht"; known: width, height, fit, left, region',
  ],
  [
    'an option of the wrong type',
    flowWith('small: { type: scale, options: { width: wide } }'),
    'flows/x.yaml:5:36 node "small": option "width" must be integer',
  ],
  [
    'an option out of its range',
    flowWith('small: { type: scale, options: { width: 99999 } }'),
    'flows/x.yaml:5:36 node "small": option "width" must be <= 16383',
  ],
  [
    'a word that is not one of the words of an option',
    flowWith('small: { type: scale, options: { width: 5, fit: insde } }'),
    'flows/x.yaml:5:46 node "small": option "fit" must be one of "inside", "cover"',
  ],
  [
    'an option that takes two types and gets a third',
    flowWith('small: { type: scale, options: { width: 5, left: true } }'),
    'flows/x.yaml:5:46 node "small": option "left" must be integer, or must be string',
  ],
  [
    'an unknown option inside of an option',
    flowWith('small: { type: scale, options: { width: 5, region: { top: 1, tp: 1 } } }'),
    'flows/x.yaml:5:64 node "small": unknown option "region.tp"; known: top',
  ],
  [
    'a missing option',
    flowWith('small: { type: encode }'),
    'flows/x.yaml:5:3 node "small": option "format" is missing',
  ],
  [
    'options that the check of the kind refuses',
    flowWith('small: { type: scale, options: { fit: cover } }'),
    'flows/x.yaml:5:25 node "small": options: width or height is needed',
  ],
  [
    'options that are no object',
    flowWith('small: { type: scale, options: 5 }'),
    'flows/x.yaml:5:25 node "small": key "options" must be object',
  ],
  [
    'an unknown type of node',
    flowWith('small: { type: resiz }'),
    'flows/x.yaml:5:12 node "small": unknown type "resiz"; known: source, scale, encode, read-text, result, choose, stamp',
  ],
  [
    'the name of a property of all objects as a type',
    flowWith('small: { type: constructor }'),
    'flows/x.yaml:5:12 node "small": unknown type "constructor"; known: source, scale, encode, read-text, result, choose, stamp',
  ],
  ['a node without a type', flowWith('small: { options: {} }'), 'flows/x.yaml:5:3 node "small": key "type" is missing'],
  ['a node that is no object', flowWith('small: 5'), 'flows/x.yaml:5:3 node "small": must be object'],
  [
    'an unknown key of a node',
    flowWith('small: { type: scale, options: { width: 5 }, keepOuput: true }'),
    'flows/x.yaml:5:48 node "small": unknown key "keepOuput"; known: type, options, keepOutput, retries, timeout, onError',
  ],
  [
    'a timeout longer than timers can wait',
    flowWith('small: { type: scale, options: { width: 5 }, timeout: 2147483648 }'),
    'flows/x.yaml:5:48 node "small": key "timeout" must be <= 2147483647',
  ],
  [
    'a node key with a space',
    flowWith(`${good}\n  x y: { type: source }`),
    'flows/x.yaml:6:3 node "x y": the key must match ^(?!__proto__$)[A-Za-z0-9_-]{1,64}$',
  ],
  [
    'a node key that objects cannot have',
    flowWith(`${good}\n  __proto__: { type: source }`),
    'flows/x.yaml:6:3 node "__proto__": the key must match ^(?!__proto__$)[A-Za-z0-9_-]{1,64}$',
  ],
  [
    'a node key of 65 characters',
    flowWith(`${good}\n  ${'a'.repeat(65)}: { type: source }`),
    `flows/x.yaml:6:3 node "${'a'.repeat(65)}": the key must match ^(?!__proto__$)[A-Za-z0-9_-]{1,64}$`,
  ],
  [
    'an unknown key of an edge',
    flowWith(good, '  - { source: photo, target: small, handle: a }'),
    'flows/x.yaml:9:37 edge 2: unknown key "handle"; known: source, target, sourceHandle, targetHandle',
  ],
  [
    'an unknown key of the flow',
    flowWith(good, 'retrys: 1'),
    'flows/x.yaml:9:1 unknown key "retrys"; known: $schema, flowId, name, description, version, input, timeout, retries, concurrency, params, nodes, edges',
  ],
  ['room for no job', flowWith(good, 'concurrency: 0'), 'flows/x.yaml:9:1 key "concurrency" must be >= 1'],
  ['room for half a job', flowWith(good, 'concurrency: 1.5'), 'flows/x.yaml:9:1 key "concurrency" must be integer'],
  ['retries below zero', flowWith(good, 'retries: -1'), 'flows/x.yaml:9:1 key "retries" must be >= 0'],
  [
    'a media type that is none',
    flowWith(good, 'input:\n  allowedMimeTypes: [image/*, images]'),
    'flows/x.yaml:10:31 key "input.allowedMimeTypes.1" must match pattern "^(\\*|[\\w.+-]+)/(\\*|[\\w.+-]+)$"',
  ],
  [
    'an unknown limit of the input',
    flowWith(good, 'input: { maxSize: 5 }'),
    'flows/x.yaml:9:10 unknown key "input.maxSize"; known: allowedMimeTypes, maxFileSize',
  ],
  ...['X', '-x', 'x y', 'a'.repeat(65)].map(
    (flowId) =>
      [
        `the flowId ${flowId}`,
        flowWith(good).replace('flowId: x', `flowId: ${flowId}`),
        'flows/x.yaml:1:1 key "flowId" must match pattern "^[a-z0-9][a-z0-9-_]{0,63}$"',
      ] as const,
  ),
  ['a flow without a name', flowWith(good).replace('name: X', ''), 'flows/x.yaml:1:1 key "name" is missing'],
  [
    'a version that YAML reads as a number',
    flowWith(good, 'version: 1.0'),
    'flows/x.yaml:9:1 key "version" must be string',
  ],
  [
    'a flow without edges',
    'flowId: x\nname: X\nnodes: { a: { type: source } }',
    'flows/x.yaml:1:1 key "edges" is missing',
  ],
  [
    'a flow without nodes',
    'flowId: x\nname: X\nnodes: {}\nedges: []',
    'flows/x.yaml:3:1 key "nodes" must not have fewer than 1 properties',
  ],
  ['a list', '- flowId: x', 'flows/x.yaml:1:1 must be object'],
];

for (const [title, yaml, problem] of refusals) {
  test(`refused: ${title}`, async (t) => {
    const problems = await problemsOf(t, { 'x.yaml': yaml });
    t.ok(problems.includes(problem), problem, { problems });
  });
}

test('all problems of a file are reported, in the order of the file', async (t) => {
  const wrong = Array.from({ length: 12 }, (_, index) => `  n${index}: { type: scale, options: { widht: 1 } }`);
  const problems = await problemsOf(t, { 'x.yaml': flowWith(`${good}\n${wrong.join('\n')}`, 'extra: 1') });
  const lines = problems.map((problem) => Number(problem.split(':')[1]));
  t.same(
    lines,
    [...lines].sort((a, b) => a - b),
  );
  t.equal(problems.filter((problem) => problem.includes('"widht"')).length, 12);
  t.match(problems.at(-1), /unknown key "extra"/);
});

const flow = (width: number) => ({
  flowId: 'x',
  name: 'X',
  nodes: { photo: { type: 'source' }, small: { type: 'scale', options: { width } } },
  edges: [{ source: 'photo', target: 'small' }],
});

test('a definition made by hand is given back as plain data, without $schema', async (t) => {
  const checked: FlowDefinition = checkFlow(
    { ...flow(5), $schema: './flow.schema.json', version: undefined },
    testKinds,
  );
  t.strictSame(checked, flow(5));
});

test('problems of a definition made by hand name the flow', async (t) => {
  t.throws(() => checkFlow(flow(0), testKinds), {
    name: 'FlowLoadError',
    message: 'flow "x" node "small": option "width" must be >= 1',
    problems: [{ file: 'flow "x"', node: 'small', message: 'option "width" must be >= 1' }],
  });
  t.throws(() => checkFlow(undefined, testKinds), { message: 'flow definition must be object' });
});

test('problems of a defined flow name the lines of its constructors', async (t) => {
  const defined = defineFlow({
    flowId: 'x',
    name: 'X',
    nodes: [sourceNode('photo'), scaleNode('small', { width: 0 })],
    edges: [{ source: 'photo', target: 'small' }],
    retries: -1,
  });
  try {
    checkFlow(defined, testKinds);
    t.fail('nothing was thrown');
  } catch (error) {
    t.type(error, FlowLoadError);
    const [first, second] = (error as FlowLoadError).problems;
    t.match(first, { file: 'test/engine/load/check-flow.test.ts', message: 'key "retries" must be >= 0' });
    t.match(second, {
      file: 'test/engine/load/check-flow.test.ts',
      node: 'small',
      line: (first?.line ?? 0) + 3,
      column: 34,
    });
  }
});

test('a function in a definition is refused', async (t) => {
  const nodes = { photo: { type: 'source', options: { allowedMimeTypes: () => [] } } };
  t.throws(() => checkFlow({ ...flow(5), nodes }, testKinds), {
    message: 'flow "x" node "photo": "nodes.photo.options.allowedMimeTypes" is a function; a flow is plain data',
  });
});

test('a kind that throws on strange input does not hide it', async (t) => {
  t.match(checkDefinition({ nodes: { a: null, b: [] }, edges: [null, 5, {}] }, testKinds).problems, [
    { message: 'key "flowId" is missing' },
  ]);
});
