/** What runs together: nodes of one definition, grouped into tasks for a worker (DESIGN 4). Pure functions. */
import { type FlowDefinition, type FlowEdge, type FlowNode, incomingEdges, outgoingEdges } from '../domain/flow.ts';
import type { NodeDescription, NodeKinds } from '../ports/node.ts';

/**
 * Nodes that run and are checkpointed as one: chains of node ids, which all begin with the same files. A node that
 * cannot share is alone in the only chain.
 */
export interface Unit {
  readonly chains: readonly (readonly string[])[];
}

/** The ids of all nodes of the unit. */
export const membersOf = (unit: Unit): readonly string[] => unit.chains.flat();

/** The nodes that take the unit's files, and those whose files are saved. */
export const headsOf = ({ chains }: Unit): readonly string[] => chains.flatMap((chain) => chain.slice(0, 1));
export const tailsOf = ({ chains }: Unit): readonly string[] => chains.flatMap((chain) => chain.slice(-1));

/** The units of a flow, in the order of their first nodes; inputs are in none. */
export const planUnits = (flow: FlowDefinition, kinds: NodeKinds): readonly Unit[] => {
  const graph = { flow, kindOf: (nodeId: string) => kinds[flow.nodes[nodeId]?.type ?? ''] };
  const chains = Object.keys(flow.nodes)
    .filter((nodeId) => graph.kindOf(nodeId)?.role !== 'input' && linkBefore(graph, nodeId) === undefined)
    .map((nodeId) => chainFrom(graph, nodeId));
  const units = Map.groupBy(chains, (chain) => sharedSource(graph, chain[0] ?? '') ?? chain);
  return [...units.values()].map((together) => ({ chains: together }));
};

interface Graph {
  readonly flow: FlowDefinition;
  readonly kindOf: (nodeId: string) => NodeDescription | undefined;
}

const chainFrom = (graph: Graph, nodeId: string): readonly string[] => {
  const [edge] = outgoingEdges(graph.flow, nodeId);
  const next = edge !== undefined && linkBefore(graph, edge.target) === nodeId ? edge.target : undefined;
  return next === undefined ? [nodeId] : [nodeId, ...chainFrom(graph, next)];
};

/** The node that hands its bare pixels on to this one inside a worker. */
const linkBefore = (graph: Graph, nodeId: string): string | undefined => {
  const edge = onlyEdge(graph, nodeId);
  if (edge === undefined || !sharesWorker(graph, nodeId) || !sharesWorker(graph, edge.source)) return undefined;
  if (hasAssets(graph, nodeId)) return undefined;
  const { keepOutput = false } = graph.flow.nodes[edge.source] ?? {};
  return keepOutput || outgoingEdges(graph.flow, edge.source).length > 1 ? undefined : edge.source;
};

/** An image node whose tries, time and failures need not be told from those of its neighbours. */
const sharesWorker = ({ flow, kindOf }: Graph, nodeId: string): boolean => {
  const node = flow.nodes[nodeId];
  return kindOf(nodeId)?.pixels === true && node !== undefined && !isOnItsOwn(node);
};

/** Assets come with the files that a chain begins with. */
const hasAssets = ({ flow, kindOf }: Graph, nodeId: string): boolean =>
  Object.keys(kindOf(nodeId)?.assets?.(flow.nodes[nodeId]?.options ?? {}) ?? {}).length > 0;

const isOnItsOwn = ({ retries, timeout, onError }: FlowNode): boolean =>
  retries !== undefined || timeout !== undefined || onError !== undefined;

/** The one edge by which everything comes that the node takes. */
const onlyEdge = ({ flow }: Graph, nodeId: string): FlowEdge | undefined => {
  const [edge, ...more] = incomingEdges(flow, nodeId);
  return more.length === 0 && edge?.targetHandle === undefined ? edge : undefined;
};

/**
 * Names the files that the chain decodes, when others may decode them with it. Bare pixels are read faster than they
 * are shared, and then the chains may as well run side by side.
 */
const sharedSource = (graph: Graph, head: string): string | undefined => {
  const edge = onlyEdge(graph, head);
  if (edge === undefined || graph.kindOf(head)?.shrink === undefined || !sharesWorker(graph, head)) return undefined;
  return isBare(graph.flow, edge.source, graph.kindOf) ? undefined : `${edge.source} ${edge.sourceHandle ?? ''}`;
};

/** The files of this node are read by image nodes of the job only: they stay bare pixels. */
export const isBare = (flow: FlowDefinition, nodeId: string, kindOf: Graph['kindOf']): boolean => {
  const edges = outgoingEdges(flow, nodeId);
  if (flow.nodes[nodeId]?.keepOutput === true || edges.length === 0 || kindOf(nodeId)?.pixels !== true) return false;
  return edges.every((edge) => kindOf(edge.target)?.pixels === true);
};
