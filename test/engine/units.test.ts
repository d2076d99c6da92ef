import t from 'tap';
import type { FlowDefinition, FlowEdge, FlowNode } from '../../src/domain/flow.ts';
import { isBare, planUnits } from '../../src/engine/units.ts';
import { kinds } from '../../src/nodes/index.ts';
import type { NodeDescription, NodeKinds } from '../../src/ports/node.ts';

const registry: NodeKinds = kinds;
const edge = (source: string, target: string, more: Partial<FlowEdge> = {}): FlowEdge => ({ source, target, ...more });
const small = { type: 'resize', options: { width: 10 } };
const web = { type: 'optimize' };
const input = { type: 'file-input' };
const output = { type: 'output' };

const flowOf = (nodes: Record<string, FlowNode>, edges: readonly FlowEdge[]): FlowDefinition => ({
  flowId: 'f',
  name: 'F',
  nodes,
  edges,
});
const unitsOf = (nodes: Record<string, FlowNode>, edges: readonly FlowEdge[]) =>
  planUnits(flowOf(nodes, edges), registry).map(({ chains }) => chains.map((chain) => chain.join(' ')).join(' | '));

const line = [edge('in', 'a'), edge('a', 'b'), edge('b', 'c'), edge('c', 'out')];

t.test('image nodes in a row are one chain, and what follows them is alone', (t) => {
  t.strictSame(unitsOf({ in: input, a: small, b: small, c: web, out: output }, line), ['a b c', 'out']);
  t.end();
});

t.test('a node of its own kind of care is alone', (t) => {
  for (const settings of [{ retries: 1 }, { timeout: 5 }, { onError: 'skip' as const }]) {
    const nodes = { in: input, a: small, b: { ...small, ...settings }, c: web, out: output };
    t.strictSame(unitsOf(nodes, line), ['a', 'b', 'c', 'out'], JSON.stringify(settings));
  }
  t.end();
});

t.test('a node whose files are kept, or that has several consumers, ends a chain', (t) => {
  const kept = { in: input, a: small, b: { ...small, keepOutput: true }, c: web, out: output };
  t.strictSame(unitsOf(kept, line), ['a b', 'c', 'out']);
  const nodes = { in: input, a: small, b: small, c: web, d: web };
  const edges = [edge('in', 'a'), edge('a', 'b'), edge('b', 'c'), edge('b', 'd')];
  t.strictSame(unitsOf(nodes, edges), ['a b', 'c', 'd']);
  t.end();
});

t.test('a node that waits for several others begins a chain', (t) => {
  const nodes = { in: input, a: { ...small, retries: 1 }, b: { ...small, retries: 2 }, c: small, out: web };
  const edges = [
    edge('in', 'a'),
    edge('in', 'b'),
    edge('a', 'c'),
    edge('b', 'c', { targetHandle: 'mark' }),
    edge('c', 'out'),
  ];
  t.strictSame(unitsOf(nodes, edges), ['a', 'b', 'c out']);
  t.end();
});

t.test('a node with assets begins a chain, which is given them', (t) => {
  const mark = (options: Record<string, unknown>) => ({ type: 'watermark', options });
  const nodes = { in: input, a: small, b: mark({ image: 'assets/logo.png' }), c: web, out: output };
  t.strictSame(unitsOf(nodes, line), ['a', 'b c', 'out']);
  t.strictSame(unitsOf({ ...nodes, b: mark({ text: 'x' }) }, line), ['a b c', 'out'], 'a text is none');
  t.end();
});

t.test('several sizes of one upload are decoded together, of bare pixels side by side', (t) => {
  const nodes = { in: input, a: small, aw: web, b: small, c: { ...small, timeout: 5 }, d: web };
  const fromInput = [edge('in', 'a'), edge('a', 'aw'), edge('in', 'b'), edge('in', 'c'), edge('in', 'd')];
  t.strictSame(unitsOf(nodes, fromInput), ['a aw | b', 'c', 'd']);
  const behind = [edge('in', 'd'), edge('d', 'a'), edge('d', 'b')];
  t.strictSame(unitsOf({ in: input, d: web, a: small, b: small }, behind), ['d', 'a', 'b']);
  t.end();
});

t.test('pixels stay bare when image nodes alone read them', (t) => {
  const kindOf = (types: Record<string, string>) => (nodeId: string) =>
    registry[types[nodeId] ?? ''] as NodeDescription;
  const nodes = { a: small, b: web, out: output };
  const ab = flowOf(nodes, [edge('a', 'b'), edge('b', 'out')]);
  const types = kindOf({ a: 'resize', b: 'optimize', out: 'output' });
  t.equal(isBare(ab, 'a', types), true);
  t.equal(isBare(ab, 'b', types), false, 'people read it');
  t.equal(
    isBare(flowOf({ ...nodes, a: { ...small, keepOutput: true } }, ab.edges), 'a', types),
    false,
    'it is final too',
  );
  t.equal(isBare(flowOf(nodes, [...ab.edges, edge('a', 'out')]), 'a', types), false);
  t.end();
});
