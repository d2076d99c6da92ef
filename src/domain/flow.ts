/** A flow definition: plain data after loading, whatever format its file has (DESIGN 4). */

import type { ParamsSchema } from './params.ts';

/** What every node may carry beside its options. Times are milliseconds. */
export interface NodeSettings {
  /** Keep the files of this node among the final outputs although other nodes consume them. */
  readonly keepOutput?: boolean;
  /** Tries after the first for retryable errors; default: the flow's. */
  readonly retries?: number;
  /** Limit of one attempt; default: what is left of the flow's. */
  readonly timeout?: number;
  /** When it fails after its retries: `fail` the job (default), or go on as if it were skipped, with a warning. */
  readonly onError?: 'fail' | 'skip';
}

export interface FlowNode extends NodeSettings {
  /** The kind, a name of the node registry. */
  readonly type: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface FlowEdge {
  readonly source: string;
  readonly target: string;
  /** The way out of a source that has several: `true` and `false` of a `conditional`. */
  readonly sourceHandle?: string;
  /** The way into a target that has several: `overlay` of a `watermark`. Absent: the main one. */
  readonly targetHandle?: string;
}

/** Limits for every file that enters the flow; a `file-input` may narrow them. */
export interface FlowInputLimits {
  /** Globs such as `image/*`. */
  readonly allowedMimeTypes?: readonly string[];
  /** Bytes. */
  readonly maxFileSize?: number;
}

export interface FlowDefinition {
  readonly flowId: string;
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  readonly input?: FlowInputLimits;
  /** Milliseconds in `running`; default: FLOW_TIMEOUT. */
  readonly timeout?: number;
  /** Tries after the first, for every node that does not say otherwise; default: FLOW_RETRIES. */
  readonly retries?: number;
  /** Jobs of the flow that run at once, over all replicas; the others wait as `pending`. Default: no limit. */
  readonly concurrency?: number;
  /** What a job may be started with; templates name it as `params`. Absent: nothing. */
  readonly params?: ParamsSchema;
  readonly nodes: Readonly<Record<string, FlowNode>>;
  readonly edges: readonly FlowEdge[];
}

export const incomingEdges = ({ edges }: FlowDefinition, nodeId: string): readonly FlowEdge[] =>
  edgesByEnd(edges).incoming.get(nodeId) ?? [];

export const outgoingEdges = ({ edges }: FlowDefinition, nodeId: string): readonly FlowEdge[] =>
  edgesByEnd(edges).outgoing.get(nodeId) ?? [];

interface EdgesByEnd {
  readonly incoming: ReadonlyMap<string, readonly FlowEdge[]>;
  readonly outgoing: ReadonlyMap<string, readonly FlowEdge[]>;
}

/** The engine asks for the edges of each node again and again, and a flow may have 2000 of them. */
const known = new WeakMap<readonly FlowEdge[], EdgesByEnd>();

const edgesByEnd = (edges: readonly FlowEdge[]): EdgesByEnd => {
  const found = known.get(edges);
  if (found !== undefined) return found;
  const sorted = {
    incoming: Map.groupBy(edges, ({ target }) => target),
    outgoing: Map.groupBy(edges, ({ source }) => source),
  };
  known.set(edges, sorted);
  return sorted;
};

/** Final outputs: nodes that nothing consumes, and those that say `keepOutput`. */
export const isFinal = (flow: FlowDefinition, nodeId: string): boolean =>
  flow.nodes[nodeId]?.keepOutput === true || outgoingEdges(flow, nodeId).length === 0;

/** The keys of the nodes on a cycle, in the order of the walk, or `undefined` when there is none. */
export const findCycle = (flow: FlowDefinition): readonly string[] | undefined => {
  const state = new Map<string, 'open' | 'done'>();
  const path: string[] = [];
  const visit = (nodeId: string): readonly string[] | undefined => {
    if (state.get(nodeId) === 'done') return undefined;
    if (state.get(nodeId) === 'open') return [...path.slice(path.indexOf(nodeId)), nodeId];
    state.set(nodeId, 'open');
    path.push(nodeId);
    for (const edge of outgoingEdges(flow, nodeId)) {
      const cycle = visit(edge.target);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    state.set(nodeId, 'done');
    return undefined;
  };
  for (const nodeId of Object.keys(flow.nodes)) {
    const cycle = visit(nodeId);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
};
