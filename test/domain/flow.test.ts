import { test } from 'tap';
import { type FlowDefinition, findCycle, incomingEdges, isFinal, outgoingEdges } from '../../src/domain/flow.ts';

/** Nodes `a` to `d`, and edges such as `a > b`. */
const flowOf = (...edges: readonly string[]): FlowDefinition => ({
  flowId: 'x',
  name: 'X',
  nodes: {
    a: { type: 'k' },
    b: { type: 'k', keepOutput: true },
    c: { type: 'k', keepOutput: false },
    d: { type: 'k' },
  },
  edges: edges.map((edge) => ({ source: edge.slice(0, 1), target: edge.slice(-1) })),
});

test('edges of a node, in the order of the definition', async (t) => {
  const flow = flowOf('a > b', 'c > b', 'b > d', 'b > a');
  t.same(
    incomingEdges(flow, 'b').map(({ source }) => source),
    ['a', 'c'],
  );
  t.same(
    outgoingEdges(flow, 'b').map(({ target }) => target),
    ['d', 'a'],
  );
  t.same(incomingEdges(flow, 'x'), []);
});

test('final are nodes that nothing consumes and those that keep their output', async (t) => {
  const flow = flowOf('a > b', 'b > c', 'c > d');
  t.same(
    ['a', 'b', 'c', 'd'].filter((nodeId) => isFinal(flow, nodeId)),
    ['b', 'd'],
  );
});

test('a cycle is told by its nodes, without the way to it', async (t) => {
  t.same(findCycle(flowOf('a > b', 'b > c', 'c > d', 'd > b')), ['b', 'c', 'd', 'b']);
  t.same(findCycle(flowOf('d > d')), ['d', 'd']);
  t.equal(findCycle(flowOf('a > b', 'a > c', 'b > d', 'c > d')), undefined, 'two ways to one node are no cycle');
  t.equal(findCycle(flowOf()), undefined);
});

test('a chain of 500 nodes, the most that a flow may have, does not exhaust the stack', async (t) => {
  const ids = Array.from({ length: 500 }, (_, index) => `n${index}`);
  const edges = ids.slice(1).map((target, index) => ({ source: `n${index}`, target }));
  const flow = { ...flowOf(), nodes: Object.fromEntries(ids.map((id) => [id, { type: 'k' }])), edges };
  t.equal(findCycle(flow), undefined);
  t.equal(findCycle({ ...flow, edges: [...edges, { source: 'n499', target: 'n0' }] })?.length, 501);
});
