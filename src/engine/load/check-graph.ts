/** The checks of a flow that need its edges: cycles, inputs, reachability, and what flows along each edge. */
import { findCycle, incomingEdges, outgoingEdges } from '../../domain/flow.ts';
import { mediaTypesOverlap } from '../../domain/media-type.ts';
import type { NodeDescription } from '../../ports/node.ts';
import { handleProblems } from './check-handles.ts';
import { templatedOptions } from './check-options.ts';
import type { FlowGraph } from './flow-graph.ts';
import { isFields } from './flow-graph.ts';
import type { Problem } from './flow-problem.ts';

/** The problems of the graph. `broken` are the nodes whose options are wrong: what they deliver is not asked. */
export const graphProblems = (graph: FlowGraph, broken: ReadonlySet<string>): Problem[] => {
  const cycle = findCycle(graph.flow);
  return [
    ...graph.problems,
    ...inputProblems(graph),
    ...handleProblems(graph),
    ...(graph.whole ? reachProblems(graph) : []),
    ...(cycle === undefined ? mediaProblems(graph, broken) : [cycleProblem(cycle)]),
  ];
};

const cycleProblem = (cycle: readonly string[]): Problem => {
  const [node = ''] = cycle;
  return { path: ['nodes', node], node, message: `the edges make a cycle: ${cycle.join(' -> ')}` };
};

const isInput = (graph: FlowGraph, nodeId: string): boolean => graph.kinds.get(nodeId)?.role === 'input';

const inputProblems = (graph: FlowGraph): Problem[] =>
  graph.edges
    .filter((edge) => isInput(graph, edge.target))
    .map((edge) => ({
      path: ['edges', edge.index],
      node: edge.target,
      message: `is an input and cannot take what "${edge.source}" delivers`,
    }));

const reachProblems = (graph: FlowGraph): Problem[] => {
  const nodeIds = Object.keys(graph.flow.nodes);
  const inputs = nodeIds.filter((nodeId) => isInput(graph, nodeId));
  if (inputs.length === 0) return [{ path: ['nodes'], message: 'the flow has no input node' }];
  const reached = reachedFrom(graph, inputs);
  return nodeIds
    .filter((nodeId) => !reached.has(nodeId))
    .map((node) => ({
      path: ['nodes', node],
      node,
      message:
        incomingEdges(graph.flow, node).length === 0
          ? 'no edge leads to it, and it is not an input'
          : 'it cannot be reached from an input',
    }));
};

const reachedFrom = (graph: FlowGraph, inputs: readonly string[]): ReadonlySet<string> => {
  const reached = new Set(inputs);
  // A set yields what is added to it while it is walked.
  for (const nodeId of reached) for (const edge of outgoingEdges(graph.flow, nodeId)) reached.add(edge.target);
  return reached;
};

/** An edge is refused when nothing that its source delivers can be taken by its target. */
const mediaProblems = (graph: FlowGraph, broken: ReadonlySet<string>): Problem[] => {
  const delivered = deliveries(graph, broken);
  return graph.edges.flatMap((edge): Problem[] => {
    const produces = delivered(edge.source);
    const kind = graph.kinds.get(edge.target);
    if (produces === undefined || kind === undefined || kind.role === 'input') return [];
    if (mediaTypesOverlap(produces, kind.accepts)) return [];
    const takes = `${kind.kind} takes ${kind.accepts.join(', ')}`;
    const message = `${takes}, but "${edge.source}" delivers ${produces.join(', ')}`;
    return [{ path: ['edges', edge.index], node: edge.target, message }];
  });
};

/** What each node delivers, as globs; `undefined` where that depends on something that is wrong. */
const deliveries = (graph: FlowGraph, broken: ReadonlySet<string>) => {
  const known = new Map<string, readonly string[] | undefined>();
  const delivered = (nodeId: string): readonly string[] | undefined => {
    if (!known.has(nodeId)) known.set(nodeId, produce(nodeId));
    return known.get(nodeId);
  };
  const produce = (nodeId: string): readonly string[] | undefined => {
    const kind = graph.kinds.get(nodeId);
    if (kind === undefined || broken.has(nodeId)) return undefined;
    const options = graph.flow.nodes[nodeId]?.options;
    return produced(kind, isFields(options) ? options : {}, arriving(nodeId) ?? ['*/*']);
  };
  const arriving = (nodeId: string): readonly string[] | undefined => {
    if (isInput(graph, nodeId)) return graph.flow.input?.allowedMimeTypes;
    const accepts = graph.kinds.get(nodeId)?.accepts ?? [];
    // What comes by a named input goes into the work and not out of it.
    const main = incomingEdges(graph.flow, nodeId).filter((edge) => edge.targetHandle === undefined);
    const globs = main.map((edge) => delivered(edge.source));
    const taken = globs.flatMap((list) => list ?? []).filter((glob) => mediaTypesOverlap([glob], accepts));
    return globs.includes(undefined) || taken.length === 0 ? undefined : [...new Set(taken)];
  };
  return delivered;
};

/** What a kind delivers; `undefined` when it asks for an option that holds a template, whose value a job will have. */
const produced = (kind: NodeDescription, options: Record<string, unknown>, incoming: readonly string[]) => {
  let asked = false;
  const watched = { ...options };
  for (const name of templatedOptions(options)) {
    const get = () => {
      asked = true;
      return undefined;
    };
    Object.defineProperty(watched, name, { get, enumerable: true });
  }
  try {
    const globs = kind.produces(watched, incoming);
    return asked ? undefined : globs;
  } catch (error) {
    // A kind may rely on an option that it requires.
    if (asked) return undefined;
    throw error;
  }
};
