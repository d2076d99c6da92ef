import { join } from 'node:path';
import { test } from 'tap';
import { callSitesOf, locateCallSites, placeInStack, toPlain } from '../../../src/engine/load/plain-flow.ts';
import { sourceNode } from './test-kinds.ts';

test('plain data comes through, without what is undefined', async (t) => {
  const value = { a: [1, 'b', null, { c: true }], d: Object.assign(Object.create(null), { e: 1 }) };
  t.strictSame(toPlain({ ...value, f: undefined }), {
    value: { a: [1, 'b', null, { c: true }], d: { e: 1 } },
    problem: undefined,
  });
  t.strictSame(toPlain(undefined), { value: undefined, problem: undefined });
});

const oddities: readonly (readonly [odd: unknown, what: string])[] = [
  [() => 1, 'a function'],
  [Symbol('s'), 'a symbol'],
  [1n, 'a bigint'],
  [new Map(), 'a Map'],
  [/x/, 'a RegExp'],
  [new (class Size {})(), 'a Size'],
  [new (class {})(), 'a class instance'],
];

for (const [odd, what] of oddities) {
  test(`${what} is refused, with the path to it and the node`, async (t) => {
    const { problem } = toPlain({ nodes: { small: { options: { list: [0, odd] } } } });
    t.same(problem, {
      path: ['nodes', 'small', 'options', 'list', '1'],
      node: 'small',
      message: `"nodes.small.options.list.1" is ${what}; a flow is plain data`,
    });
  });
}

test('a value that contains itself is refused', async (t) => {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  t.match(toPlain(value).problem, { path: [], message: /contains itself/ });
});

test('frames of all forms are read; the preferred file counts first', async (t) => {
  const here = join(process.cwd(), 'a b.ts');
  const stack = `Error: at file (x)
    at new Script (node:vm:117:7)
    at make (file:///lib/x%20(y)/z.ts:1:2)
    at Object.<anonymous> (${here}:3:4)
    at async file:///lib/last.ts:5:6`;
  t.same(placeInStack(stack), { file: '/lib/x (y)/z.ts', line: 1, column: 2 });
  t.same(placeInStack(stack, here), { file: 'a b.ts', line: 3, column: 4 });
  t.same(placeInStack(stack, '/lib/last.ts'), { file: '/lib/last.ts', line: 5, column: 6 });
  t.equal(placeInStack('Error: nowhere\n    at node:internal/x:1:2'), undefined);
  t.equal(placeInStack(undefined), undefined);
});

test('call sites survive JSON; a node without one is at the flow, a flow without one at the file', async (t) => {
  const sites = JSON.parse(JSON.stringify(callSitesOf({ nodes: { a: sourceNode('a'), b: {} } })));
  const locate = locateCallSites(sites, { file: 'x.ts' });
  t.match(locate(['nodes', 'a', 'options']), { file: 'test/engine/load/plain-flow.test.ts', line: Number });
  t.same(locate(['nodes', 'b']), { file: 'x.ts' });
  t.same(locate(['nodes', 'toString']), { file: 'x.ts' });
  t.same(locate(['edges', 0]), { file: 'x.ts' });
  t.same(callSitesOf(5), { flow: undefined, nodes: {} });
});
