/** What a job's graph says comes next: pure functions over the definition and the tasks. */
import { type FlowDefinition, incomingEdges, isFinal, outgoingEdges } from '../domain/flow.ts';
import { findTask, isTaskSettled, type JobFile, type JobOutput, type JobRecord } from '../domain/job.ts';

/** What an edge has become: `active` once its source has delivered a file, `inactive` when it never will. */
type EdgeState = 'pending' | 'active' | 'inactive';

const edgeState = (job: JobRecord, source: string): EdgeState => {
  const task = findTask(job, source);
  if (task === undefined || !isTaskSettled(task)) return 'pending';
  return task.status === 'completed' && (task.files ?? []).length > 0 ? 'active' : 'inactive';
};

/** A node may run when all its incoming edges have settled and one is active; it is skipped when none is. */
export const nextSteps = (
  flow: FlowDefinition,
  job: JobRecord,
): { readonly ready: readonly string[]; readonly skipped: readonly string[] } => {
  const ready: string[] = [];
  const skipped: string[] = [];
  for (const task of job.tasks) {
    const edges = incomingEdges(flow, task.nodeId);
    if (edges.length === 0 || (task.status !== 'pending' && task.status !== 'retrying')) continue;
    const states = edges.map((edge) => edgeState(job, edge.source));
    if (states.includes('pending')) continue;
    (states.includes('active') ? ready : skipped).push(task.nodeId);
  }
  return { ready, skipped };
};

/** The files that flow into a node, in the order of the edges in the definition. */
export const inputFiles = (flow: FlowDefinition, job: JobRecord, nodeId: string): readonly JobFile[] =>
  incomingEdges(flow, nodeId).flatMap((edge) => findTask(job, edge.source)?.files ?? []);

/** The final outputs under their keys: the node's, then `key.1`, `key.2`, ... for its further files. */
export const collectOutputs = (flow: FlowDefinition, job: JobRecord): Readonly<Record<string, JobOutput>> => {
  const outputs: Record<string, JobOutput> = {};
  for (const { nodeId, files } of job.tasks) {
    if (!isFinal(flow, nodeId)) continue;
    for (const [index, file] of (files ?? []).entries()) {
      outputs[index === 0 ? nodeId : `${nodeId}.${index}`] = { ...file, nodeId };
    }
  }
  return outputs;
};

/** The job's own files that nothing needs any more now that `nodeId` has settled. */
export const garbageAfter = (flow: FlowDefinition, job: JobRecord, nodeId: string): readonly JobFile[] => {
  const live = new Set(job.tasks.filter((task) => isLive(flow, job, task.nodeId)).flatMap(keysOf));
  return incomingEdges(flow, nodeId)
    .flatMap((edge) => findTask(job, edge.source)?.files ?? [])
    .filter((file) => file.owned && file.uploadId === undefined && !live.has(file.key));
};

const keysOf = (task: { readonly files?: readonly JobFile[] }): readonly string[] =>
  (task.files ?? []).map((file) => file.key);

/** Somebody still wants the files of this node. */
const isLive = (flow: FlowDefinition, job: JobRecord, nodeId: string): boolean =>
  isFinal(flow, nodeId) ||
  outgoingEdges(flow, nodeId).some((edge) => {
    const task = findTask(job, edge.target);
    return task !== undefined && !isTaskSettled(task);
  });

/** The outputs of this node are read by other nodes of the job only. */
export const isIntermediate = (flow: FlowDefinition, nodeId: string, roleOf: (nodeId: string) => string): boolean =>
  !isFinal(flow, nodeId) && outgoingEdges(flow, nodeId).every((edge) => roleOf(edge.target) === 'process');
