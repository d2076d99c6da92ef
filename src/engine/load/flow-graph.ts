/**
 * The readable part of a definition, as a graph for the checks: what is malformed or unknown is left out here, and
 * reported elsewhere, so that one mistake does not hide the others.
 */
import type { FlowDefinition, FlowEdge, FlowNode } from '../../domain/flow.ts';
import type { NodeDescription, NodeKinds } from '../../ports/node.ts';
import type { Problem } from './flow-problem.ts';

/** An edge and where it is in the list of edges. */
export interface GraphEdge extends FlowEdge {
  readonly index: number;
}

export interface FlowGraph {
  /** Only nodes and edges that can be read; the limits of the input too, for the media types. */
  readonly flow: FlowDefinition;
  readonly edges: readonly GraphEdge[];
  readonly kinds: ReadonlyMap<string, NodeDescription>;
  /** Nothing is left out: what seems to be missing is missing. */
  readonly whole: boolean;
  readonly problems: readonly Problem[];
}

type Fields = Partial<Record<string, unknown>>;

/** Whether `value` is an object with keys. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The kind of that name; names such as `constructor` are no kinds. */
export const findKind = (kinds: NodeKinds, type: unknown): NodeDescription | undefined =>
  typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;

/** Reads the graph of a definition of any shape, and reports edges that are none. */
export const readGraph = (value: unknown, kinds: NodeKinds): FlowGraph => {
  const fields = isFields(value) ? value : {};
  const keyed = Object.entries(isFields(fields['nodes']) ? fields['nodes'] : {});
  const nodes = keyed.filter((entry): entry is [string, FlowNode & Fields] => isFields(entry[1]));
  const listed = Array.isArray(fields['edges']) ? fields['edges'] : [];
  const { edges, problems } = readEdges(listed, new Set(keyed.map(([nodeId]) => nodeId)));
  const known = nodes.flatMap(([nodeId, node]) => {
    const kind = findKind(kinds, node.type);
    return kind === undefined ? [] : [[nodeId, kind] as const];
  });
  return {
    flow: { flowId: '', name: '', ...readInput(fields['input']), nodes: Object.fromEntries(nodes), edges },
    edges,
    kinds: new Map(known),
    whole: keyed.length > 0 && known.length === keyed.length && edges.length === listed.length,
    problems,
  };
};

const readInput = (input: unknown): Pick<FlowDefinition, 'input'> => {
  const allowedMimeTypes = isFields(input) ? input['allowedMimeTypes'] : undefined;
  const readable = Array.isArray(allowedMimeTypes) && allowedMimeTypes.every((glob) => typeof glob === 'string');
  return readable ? { input: { allowedMimeTypes } } : {};
};

const readEdges = (listed: readonly unknown[], nodeIds: ReadonlySet<string>) => {
  const edges: GraphEdge[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, edge] of listed.entries()) {
    const read = readEdge(edge);
    if (read === undefined) continue;
    const found = edgeProblems({ ...read, index }, nodeIds, seen);
    seen.add(edgeName(read));
    problems.push(...found);
    if (found.length === 0) edges.push({ ...read, index });
  }
  return { edges, problems };
};

const readEdge = (edge: unknown): FlowEdge | undefined => {
  const { source, target, sourceHandle, targetHandle } = isFields(edge) ? edge : {};
  if (typeof source !== 'string' || typeof target !== 'string') return undefined;
  if (!isHandle(sourceHandle) || !isHandle(targetHandle)) return undefined;
  return {
    source,
    target,
    ...(sourceHandle === undefined ? {} : { sourceHandle }),
    ...(targetHandle === undefined ? {} : { targetHandle }),
  };
};

const isHandle = (value: unknown): value is string | undefined => value === undefined || typeof value === 'string';

const edgeProblems = (edge: GraphEdge, nodeIds: ReadonlySet<string>, seen: ReadonlySet<string>): Problem[] => {
  const ends = (['source', 'target'] as const).filter((end) => !nodeIds.has(edge[end]));
  if (ends.length > 0) {
    const known = [...nodeIds].join(', ');
    return ends.map((end) => ({
      path: ['edges', edge.index, end],
      message: `edge ${edgeName(edge)}: there is no node "${edge[end]}" (${end}); known: ${known}`,
    }));
  }
  const path = ['edges', edge.index];
  if (edge.source === edge.target) {
    return [{ path, node: edge.source, message: `edge ${edgeName(edge)} leads back to its own node` }];
  }
  return seen.has(edgeName(edge)) ? [{ path, message: `edge ${edgeName(edge)} is there twice` }] : [];
};

/** `"big" (true) -> "mark" (overlay)`: two edges with one name are the same edge. */
export const edgeName = ({ source, target, sourceHandle, targetHandle }: FlowEdge): string =>
  `${endName(source, sourceHandle)} -> ${endName(target, targetHandle)}`;

const endName = (nodeId: string, handle: string | undefined): string =>
  handle === undefined ? `"${nodeId}"` : `"${nodeId}" (${handle})`;
