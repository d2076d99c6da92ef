import { ServiceError } from '../domain/errors.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import { type JobFile, type JobRecord, type TaskRecord, toPending } from '../domain/job.ts';
import { definitionOf } from './definitions.ts';
import { type EngineDeps, findJob, updateJob } from './records.ts';
import { nodesToRepeat } from './repeat.ts';
import { jobPrefix } from './run-node.ts';
import { planUnits } from './units.ts';
import type { WakeJob } from './wake.ts';

/**
 * Has a failed job tried again from its last finished nodes, on the definition that it began with and with all its
 * tries and time. Errors: `FLOW_JOB_NOT_FOUND`, `INVALID_JOB_STATE` (it has not failed), `FILE_NO_LONGER_EXISTS` (its
 * time to be tried again is over, or a file that it needs was removed).
 */
export type RetryJob = (jobId: string, clientId: string | undefined) => Promise<JobRecord>;

export const createRetry =
  (deps: EngineDeps & { readonly wake: WakeJob }): RetryJob =>
  async (jobId, clientId) => {
    const entry = await findJob(deps, jobId, clientId);
    requireFailed(entry.value);
    const flow = await definitionOf(deps, entry.value);
    const repeated = await findRepeated(deps, flow, entry.value);
    const { epoch } = entry.value;
    await updateJob(deps, entry, (job) => {
      if (job.epoch !== epoch) throw new ServiceError('INVALID_JOB_STATE', 'Somebody else has changed the job');
      requireFailed(job);
      return { value: begunAnew(job, repeated), events: [{ type: 'flow_resumed' }] };
    });
    await deps.wake(jobId);
    return (await findJob(deps, jobId, clientId)).value;
  };

const requireFailed = (job: JobRecord): void => {
  if (job.status !== 'failed')
    throw new ServiceError('INVALID_JOB_STATE', `The job has not failed: it is ${job.status}`);
  if (job.swept !== true) return;
  throw new ServiceError('FILE_NO_LONGER_EXISTS', 'The files of the job have been removed: start the flow again');
};

const findRepeated = async (deps: EngineDeps, flow: FlowDefinition, job: JobRecord): Promise<ReadonlySet<string>> => {
  const made = new Set(await deps.storage(job.storageId).list(jobPrefix(job.id)));
  const gone = await findGoneUploads(deps, job);
  const isThere = ({ key, uploadId }: JobFile) => (uploadId === undefined ? made.has(key) : !gone.has(uploadId));
  const repeated = nodesToRepeat({ flow, units: planUnits(flow, deps.kinds), job, isThere });
  for (const { nodeId, files = [] } of job.tasks) {
    if (repeated.has(nodeId) && files.some((file) => file.uploadId !== undefined && !isThere(file))) {
      throw new ServiceError('FILE_NO_LONGER_EXISTS', `An upload of "${nodeId}" was removed`, { details: { nodeId } });
    }
  }
  return repeated;
};

const findGoneUploads = async (deps: EngineDeps, job: JobRecord): Promise<ReadonlySet<string>> => {
  const gone = new Set<string>();
  for (const { id } of job.tasks.flatMap((task) => task.uploads ?? [])) {
    const upload = (await deps.kvStore.get('uploads', id))?.value;
    if (upload?.status !== 'completed' || upload.bytesRemoved === true) gone.add(id);
  }
  return gone;
};

const begunAnew = (job: JobRecord, repeated: ReadonlySet<string>): JobRecord => {
  const { error: _, endedAt: _1, warnings = [], ...rest } = job;
  const kept = warnings.filter((warning) => !repeated.has(warning.split(':', 1)[0] ?? ''));
  const tasks = job.tasks.map((task) => (repeated.has(task.nodeId) ? forgiven(task) : task));
  const said = kept.length === 0 ? {} : { warnings: kept };
  return { ...rest, ...said, status: 'pending', tasks, runningMs: 0, epoch: job.epoch + 1 };
};

const forgiven = (task: TaskRecord): TaskRecord => {
  const { error: _, files: _1, crashes: _2, losses: _3, timeouts: _4, ...rest } = toPending(task);
  return { ...rest, forgiven: task.attempt };
};
