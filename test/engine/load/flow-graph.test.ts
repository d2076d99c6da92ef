import { test } from 'tap';
import { findKind, readGraph } from '../../../src/engine/load/flow-graph.ts';
import { testKinds } from './test-kinds.ts';

// What it reports is tested where it is read, in check-graph.test.ts.

test('what can be read of a definition is kept, and it says that something is missing', async (t) => {
  const nodes = { photo: { type: 'source' }, small: { type: 'nope' }, bad: 5 };
  const edges = [{ source: 'photo', target: 'small' }, { source: 'photo' }, 5, null];
  const graph = readGraph({ nodes, edges, input: { allowedMimeTypes: ['image/*'] } }, testKinds);
  t.same(Object.keys(graph.flow.nodes), ['photo', 'small']);
  t.same(graph.flow.input, { allowedMimeTypes: ['image/*'] });
  t.same(graph.edges, [{ source: 'photo', target: 'small', index: 0 }]);
  t.same([...graph.kinds.keys()], ['photo']);
  t.notOk(graph.whole);
  t.same(graph.problems, []);
});

test('a definition that is no object is an empty graph', async (t) => {
  for (const value of [undefined, null, 5, [], { nodes: [], edges: {}, input: { allowedMimeTypes: [5] } }]) {
    t.match(readGraph(value, testKinds), { flow: { nodes: {}, edges: [], input: undefined }, whole: false });
  }
});

test('kinds are found by their own names only', async (t) => {
  t.equal(findKind(testKinds, 'scale'), testKinds.scale);
  for (const type of ['toString', '__proto__', 5, undefined]) t.equal(findKind(testKinds, type), undefined);
});
