/** What a job's graph says comes next: pure functions over the definition and the tasks. */
import { type FlowDefinition, type FlowEdge, incomingEdges, isFinal, outgoingEdges } from '../domain/flow.ts';
import { findTask, isSaved, type JobFile, type JobOutput, type JobRecord, withTask } from '../domain/job.ts';
import { headsOf, type Unit } from './units.ts';

/** What an edge has become: `active` once its source has delivered a file by it, `inactive` when it never will. */
type EdgeState = 'pending' | 'active' | 'inactive';

const edgeState = (job: JobRecord, edge: FlowEdge): EdgeState => {
  const task = findTask(job, edge.source);
  if (task === undefined || !isSaved(task)) return 'pending';
  return task.status === 'completed' && filesBy(job, edge).length > 0 ? 'active' : 'inactive';
};

/** The files that leave the edge's source by it. */
const filesBy = (job: JobRecord, { source, sourceHandle }: FlowEdge): readonly JobFile[] =>
  (findTask(job, source)?.files ?? []).filter((file) => file.handle === sourceHandle);

type Step = 'wait' | 'run' | 'skip';

/** A node may run when all its edges have settled and one to its main input is active; it is skipped when none is. */
const stepOf = (flow: FlowDefinition, job: JobRecord, nodeId: string): Step => {
  const status = findTask(job, nodeId)?.status;
  if (status !== 'pending' && status !== 'retrying') return 'wait';
  const edges = incomingEdges(flow, nodeId);
  if (edges.length === 0) return 'wait';
  const states = edges.map((edge) => ({ edge, state: edgeState(job, edge) }));
  if (states.some(({ state }) => state === 'pending')) return 'wait';
  return states.some(({ edge, state }) => state === 'active' && edge.targetHandle === undefined) ? 'run' : 'skip';
};

/** The units that may run, and the nodes that no file will reach, each after those because of which none will. */
export const nextSteps = (
  flow: FlowDefinition,
  units: readonly Unit[],
  job: JobRecord,
): { readonly ready: readonly Unit[]; readonly skipped: readonly string[] } => ({
  ready: units.filter((unit) => headsOf(unit).every((nodeId) => stepOf(flow, job, nodeId) === 'run')),
  skipped: skippedNodes(flow, job),
});

const skippedNodes = (flow: FlowDefinition, job: JobRecord): readonly string[] => {
  const skipped: string[] = [];
  let next = job;
  // A set yields what is added to it while it is walked.
  const open = new Set(job.tasks.map(({ nodeId }) => nodeId));
  for (const nodeId of open) {
    if (stepOf(flow, next, nodeId) !== 'skip') continue;
    next = withTask(next, nodeId, { status: 'skipped' });
    skipped.push(nodeId);
    for (const { target } of outgoingEdges(flow, nodeId)) {
      open.delete(target);
      open.add(target);
    }
  }
  return skipped;
};

/** A file on its way into a node: by which of the node's edges, counted from 0, and by which of its inputs. */
export interface InputFile {
  readonly file: JobFile;
  readonly edge: number;
  readonly handle?: string;
}

/** The files that flow into a node, in the order of the edges in the definition. */
export const inputFiles = (flow: FlowDefinition, job: JobRecord, nodeId: string): readonly InputFile[] =>
  incomingEdges(flow, nodeId).flatMap((edge, index) =>
    filesBy(job, edge).map((file) => ({
      file,
      edge: index,
      ...(edge.targetHandle === undefined ? {} : { handle: edge.targetHandle }),
    })),
  );

/** The final outputs under their keys: the node's, then `key.1`, `key.2`, ... for its further files. */
export const collectOutputs = (flow: FlowDefinition, job: JobRecord): Readonly<Record<string, JobOutput>> => {
  const outputs: Record<string, JobOutput> = {};
  for (const { nodeId, files } of job.tasks) {
    if (!isFinal(flow, nodeId)) continue;
    for (const [index, { handle: _, ...file }] of (files ?? []).entries()) {
      outputs[index === 0 ? nodeId : `${nodeId}.${index}`] = { ...file, nodeId };
    }
  }
  return outputs;
};

/** The job's own files that nothing needs any more now that the unit has settled. */
export const garbageAfter = (flow: FlowDefinition, job: JobRecord, unit: Unit): readonly JobFile[] => {
  const live = new Set(job.tasks.filter((task) => isLive(flow, job, task.nodeId)).flatMap(keysOf));
  return headsOf(unit)
    .flatMap((nodeId) => inputFiles(flow, job, nodeId))
    .map(({ file }) => file)
    .filter((file) => file.owned && file.uploadId === undefined && !live.has(file.key));
};

const keysOf = (task: { readonly files?: readonly JobFile[] }): readonly string[] =>
  (task.files ?? []).map((file) => file.key);

/** Somebody still wants the files of this node. */
const isLive = (flow: FlowDefinition, job: JobRecord, nodeId: string): boolean =>
  isFinal(flow, nodeId) ||
  outgoingEdges(flow, nodeId).some((edge) => {
    const task = findTask(job, edge.target);
    return task !== undefined && !isSaved(task);
  });
