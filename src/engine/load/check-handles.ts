/** The checks of a flow's handles: the ways out of a node that has several, and the ways in beside the main one. */
import { edgeName, type FlowGraph, type GraphEdge, isFields } from './flow-graph.ts';
import type { Problem } from './flow-problem.ts';

/** Handles that their kinds do not have, missing ones, and nodes that only their named inputs lead to. */
export const handleProblems = (graph: FlowGraph): Problem[] => [
  ...graph.edges.flatMap((edge) => [...sourceProblems(graph, edge), ...targetProblems(graph, edge)]),
  ...(graph.whole ? [...mainInputProblems(graph), ...insteadProblems(graph)] : []),
];

const sourceProblems = (graph: FlowGraph, edge: GraphEdge): Problem[] => {
  const kind = graph.kinds.get(edge.source);
  const { sourceHandle } = edge;
  if (kind === undefined) return [];
  if (kind.outputHandles === undefined) {
    if (sourceHandle === undefined) return [];
    return [problemAt(edge, 'sourceHandle', edge.source, `${kind.kind} has one way out, so no sourceHandle`)];
  }
  if (sourceHandle !== undefined && kind.outputHandles.includes(sourceHandle)) return [];
  const known = kind.outputHandles.join(', ');
  if (sourceHandle === undefined) return [problemAt(edge, undefined, edge.source, `needs a sourceHandle: ${known}`)];
  return [problemAt(edge, 'sourceHandle', edge.source, `there is no sourceHandle "${sourceHandle}"; known: ${known}`)];
};

const targetProblems = (graph: FlowGraph, edge: GraphEdge): Problem[] => {
  const kind = graph.kinds.get(edge.target);
  const { targetHandle } = edge;
  if (kind === undefined || targetHandle === undefined) return [];
  const known = kind.inputHandles ?? [];
  if (known.includes(targetHandle)) return [];
  const message =
    known.length === 0
      ? `${kind.kind} has one way in, so no targetHandle`
      : `there is no targetHandle "${targetHandle}"; known: ${known.join(', ')}; leave it out for the main input`;
  return [problemAt(edge, 'targetHandle', edge.target, message)];
};

const problemAt = (edge: GraphEdge, key: string | undefined, node: string, message: string): Problem => ({
  path: ['edges', edge.index, ...(key === undefined ? [] : [key])],
  node,
  message: `edge ${edgeName(edge)}: ${message}`,
});

/** What a named input is for, an overlay, is nothing without the file that the node works on. */
const mainInputProblems = (graph: FlowGraph): Problem[] => {
  const led = new Set(graph.edges.map((edge) => edge.target));
  const main = new Set(graph.edges.filter((edge) => edge.targetHandle === undefined).map((edge) => edge.target));
  return [...led]
    .filter((nodeId) => !main.has(nodeId) && (graph.kinds.get(nodeId)?.inputHandles ?? []).length > 0)
    .map((node) => ({
      path: ['nodes', node],
      node,
      message: 'only named inputs have an edge; its main input (an edge without targetHandle) needs one too',
    }));
};

/** A named input, and the options in its place, are one thing said in several ways. */
const insteadProblems = (graph: FlowGraph): Problem[] =>
  [...graph.kinds].flatMap(([node, { instead = {} }]) =>
    Object.entries(instead).flatMap(([handle, names]) => {
      const options = graph.flow.nodes[node]?.options;
      const given = names.filter((name) => isFields(options) && options[name] !== undefined);
      const edges = graph.edges.filter((edge) => edge.target === node && edge.targetHandle === handle);
      const ways = [...given, ...(edges.length > 0 ? [`an edge to "${handle}"`] : [])];
      if (ways.length === 1) return [];
      const wanted = `one of these is needed: ${names.join(', ')}, an edge to "${handle}"`;
      return [
        {
          path: ['nodes', node],
          node,
          message: ways.length === 0 ? wanted : `${wanted}; it has ${ways.join(' and ')}`,
        },
      ];
    }),
  );
