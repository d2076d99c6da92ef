/** How a hold on a job ends: the job is complete, has failed, or is left to somebody else. */
import { type ServiceError, toServiceError } from '../domain/errors.ts';
import { isTaskSettled, type JobRecord, withoutLease, withTask } from '../domain/job.ts';
import type { QueueOutcome } from '../ports/job-queue.ts';
import { collectOutputs } from './plan.ts';
import type { EngineDeps } from './records.ts';
import { HoldEnded, type Session } from './session.ts';
import { sweepEnded, sweepFiles, sweepUploads } from './sweep.ts';

/** Cleans up and ends the job well. Everything it needs is checkpointed, so a crash in between only repeats this. */
export const completeJob = async (deps: EngineDeps, session: Session): Promise<void> => {
  const outputs = collectOutputs(session.flow, session.job);
  const keep = new Set(Object.values(outputs).map((output) => output.key));
  await sweepFiles(deps, session.job, keep);
  await sweepUploads(deps, session.job, keep);
  const none = keep.size === 0 ? { warnings: ['NO_OUTPUTS'] } : {};
  await session.update((job) => {
    const value = { ...withoutLease(job), status: 'completed' as const, outputs, ...none, endedAt: now(deps) };
    return { value, events: [{ type: 'flow_complete' }] };
  });
};

const now = (deps: EngineDeps): string => new Date(deps.clock.now()).toISOString();

/** Ends a hold that did not come to its end: the siblings are stopped first, then the record says why. */
export const endEarly = async (
  deps: EngineDeps,
  session: Session,
  error: unknown,
  running: ReadonlyMap<string, Promise<void>>,
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
    await session.update((job) => ({ value: withoutLease(job) }));
    return { delayMs: 0 };
  }
  // Whoever ended the job has swept it, perhaps before the last files of this hold were published.
  const newest = (await deps.kvStore.get('jobs', session.job.id))?.value;
  if (newest?.status === 'failed' || newest?.status === 'cancelled') await sweepFiles(deps, newest, new Set());
  return 'done';
};

const failJob = async (deps: EngineDeps, session: Session, error: ServiceError, slowest: string): Promise<void> => {
  const { nodeId: named, ...details } = error.details ?? {};
  const nodeId = typeof named === 'string' ? named : slowest;
  const facts = Object.keys(details).length === 0 ? {} : { details };
  const told = { code: error.code, message: error.message, nodeId, ...facts };
  if (error.code === 'INTERNAL_ERROR') deps.onError(error.cause ?? error, { jobId: session.job.id, nodeId });
  await session.update((job) => {
    const rest = withoutLease(withTask(job, nodeId, { status: 'failed', error: told, endedAt: now(deps) }));
    const tasks = rest.tasks.map((task) => (isTaskSettled(task) ? task : { ...task, status: 'cancelled' as const }));
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
