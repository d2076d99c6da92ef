/** How a hold on a job ends: the job is complete, has failed, or is left to somebody else. */
import { type ServiceError, toServiceError } from '../domain/errors.ts';
import { isTaskSettled, type JobRecord, type TaskRecord, toPending, withoutLease, withTask } from '../domain/job.ts';
import type { QueueOutcome } from '../ports/job-queue.ts';
import { collectOutputs } from './plan.ts';
import type { EngineDeps } from './records.ts';
import { HoldEnded, type Session } from './session.ts';
import { keptKeys, sweepEnded, sweepFiles, sweepUploads } from './sweep.ts';

/** Cleans up and ends the job well. Everything it needs is checkpointed, so a crash in between only repeats this. */
export const completeJob = async (deps: EngineDeps, session: Session): Promise<void> => {
  const outputs = collectOutputs(session.flow, session.job);
  const keep = new Set(Object.values(outputs).map((output) => output.key));
  await sweepFiles(deps, session.job, keep);
  await sweepUploads(deps, session.job, keep);
  await session.update((job) => {
    const warnings = [...(job.warnings ?? []), ...(keep.size === 0 ? ['NO_OUTPUTS'] : [])];
    const facts = { outputs, ...(warnings.length > 0 ? { warnings } : {}), endedAt: now(deps) };
    const { pauseReason: _, ...rest } = withoutLease(job);
    const value = { ...rest, status: 'completed' as const, ...facts };
    return { value, events: [{ type: 'flow_complete' }] };
  });
};

const now = (deps: EngineDeps): string => new Date(deps.clock.now()).toISOString();

/** Ends a hold that did not come to its end: the siblings are stopped first, then the record says why. */
export const endEarly = async (
  deps: EngineDeps,
  session: Session,
  error: unknown,
  running: ReadonlyMap<unknown, Promise<void>>,
): Promise<QueueOutcome> => {
  const slowest = longestRunning(session.job);
  session.end(new HoldEnded('lost'));
  await Promise.allSettled(running.values());
  if (error instanceof HoldEnded) return release(deps, session, error);
  await failJob(deps, session, toServiceError(error), slowest);
  return 'done';
};

/** The node that has run longest: the one to name when the flow's time is up. */
const longestRunning = (job: JobRecord): string => {
  const started = job.tasks.filter((task) => task.status === 'running' || task.status === 'retrying');
  const [first] = started.toSorted((a, b) => (a.startedAt ?? '').localeCompare(b.startedAt ?? ''));
  return (first ?? job.tasks.find((task) => !isTaskSettled(task)) ?? job.tasks[0])?.nodeId ?? '';
};

const release = async (deps: EngineDeps, session: Session, error: HoldEnded): Promise<QueueOutcome> => {
  if (error.reason === 'shutdown') {
    await session.update((job) => ({ value: { ...withoutLease(job), tasks: job.tasks.map(interrupted) } }));
    return { delayMs: 0 };
  }
  // Whoever ended the job has swept it, perhaps before the last files of this hold were published.
  const newest = (await deps.kvStore.get('jobs', session.job.id))?.value;
  if (newest?.status === 'failed' || newest?.status === 'cancelled') await sweepFiles(deps, newest, keptKeys(newest));
  return 'done';
};

/** What has ended in a worker only has not. */
const isOver = (task: TaskRecord): boolean => isTaskSettled(task) && task.unsaved !== true;

/** The service stops in good order: nothing is lost, and it counts as no loss. */
const interrupted = (task: TaskRecord): TaskRecord =>
  task.status === 'running' || task.unsaved === true ? toPending(task) : task;

const failJob = async (deps: EngineDeps, session: Session, error: ServiceError, slowest: string): Promise<void> => {
  const { nodeId: named, ...details } = error.details ?? {};
  const nodeId = typeof named === 'string' ? named : slowest;
  const facts = Object.keys(details).length === 0 ? {} : { details };
  const told = { code: error.code, message: error.message, nodeId, ...facts };
  if (error.code === 'INTERNAL_ERROR') deps.onError(error.cause ?? error, { jobId: session.job.id, nodeId });
  await session.update((job) => {
    const { pauseReason: _, ...rest } = withoutLease(
      withTask(job, nodeId, { status: 'failed', error: told, endedAt: now(deps) }),
    );
    const tasks = rest.tasks.map((task) => (isOver(task) ? task : { ...task, status: 'cancelled' as const }));
    const value: JobRecord = { ...rest, tasks, status: 'failed', error: told, endedAt: now(deps), leftovers: true };
    return {
      value,
      events: [
        { type: 'node_failed', nodeId, error: told },
        { type: 'flow_error', error: told },
      ],
    };
  });
  await sweepEnded(deps, session.entry);
};
