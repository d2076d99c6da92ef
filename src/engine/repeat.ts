/** What a failed job has to do again. */
import { type FlowDefinition, incomingEdges, isFinal, outgoingEdges } from '../domain/flow.ts';
import { findTask, type JobFile, type JobRecord } from '../domain/job.ts';
import { membersOf, type Unit } from './units.ts';

interface Past {
  readonly flow: FlowDefinition;
  readonly units: readonly Unit[];
  readonly job: JobRecord;
  /** Whether the bytes are still in their store. */
  readonly isThere: (file: JobFile) => boolean;
}

/**
 * The nodes that must run when the job is tried again: those that have not settled well, final ones whose files are
 * gone, and whatever has to come before or after them.
 */
export const nodesToRepeat = (past: Past): ReadonlySet<string> => {
  const { flow, job } = past;
  const repeated = new Set<string>();
  for (const { nodeId, status } of job.tasks) {
    const settled =
      status === 'skipped' || (status === 'completed' && (!isFinal(flow, nodeId) || isDelivered(past, nodeId)));
    if (!settled) repeated.add(nodeId);
  }
  // A set yields what is added to it while it is walked.
  for (const nodeId of repeated) for (const other of drawnIn(past, nodeId)) repeated.add(other);
  return repeated;
};

/** The nodes that must run because this one does. */
const drawnIn = (past: Past, nodeId: string): readonly string[] => {
  const { flow, units, job } = past;
  const unit = units.find((one) => membersOf(one).includes(nodeId));
  const sources = incomingEdges(flow, nodeId).map(({ source }) => source);
  const targets = outgoingEdges(flow, nodeId).map(({ target }) => target);
  return [
    ...(unit === undefined ? [] : membersOf(unit)),
    ...sources.filter((source) => findTask(job, source)?.status === 'completed' && !isDelivered(past, source)),
    // No file has reached them; now one may.
    ...targets.filter((target) => findTask(job, target)?.status === 'skipped'),
  ];
};

const isDelivered = ({ job, isThere }: Past, nodeId: string): boolean =>
  (findTask(job, nodeId)?.files ?? []).every(isThere);
