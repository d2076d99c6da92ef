/** How a hold on a job ends: the job is complete, has failed, or is left to somebody else. */
import { isUnavailable, type ServiceError, toServiceError } from '../domain/errors.ts';
import type { ServiceEvent } from '../domain/event.ts';
import {
  isEnded,
  isSaved,
  isTaskSettled,
  type JobRecord,
  toCutOff,
  withoutLease,
  withoutPause,
  withTask,
} from '../domain/job.ts';
import type { QueueOutcome } from '../ports/job-queue.ts';
import { collectOutputs } from './plan.ts';
import { type EngineDeps, reportCause } from './records.ts';
import { HoldEnded, type Session } from './session.ts';
import { keptKeys, sweep, sweepFiles } from './sweep.ts';

/** After so long a job is taken up again whose stores did not answer, milliseconds. */
const unavailableMs = 1000;

/** Cleans up and ends the job well. Everything it needs is checkpointed, so a crash in between only repeats this. */
export const completeJob = (deps: EngineDeps, session: Session): Promise<void> => {
  const outputs = collectOutputs(session.flow, session.job);
  const complete = (job: JobRecord): JobRecord => {
    const warnings = [...(job.warnings ?? []), ...(Object.keys(outputs).length === 0 ? ['NO_OUTPUTS'] : [])];
    const rest = withoutPause(withoutLease(job));
    const facts = { outputs, ...(warnings.length > 0 ? { warnings } : {}), endedAt: now(deps) };
    return { ...rest, status: 'completed', ...facts };
  };
  return endJob(deps, session, complete, [{ type: 'flow_complete' }]);
};

/** Removes what nobody needs of the job once it has ended, then ends it: nobody who reads of the end comes in between. */
const endJob = async (
  deps: EngineDeps,
  session: Session,
  ended: (job: JobRecord) => JobRecord,
  events: readonly ServiceEvent[],
): Promise<void> => {
  const end = ended(session.job);
  const leftovers = await sweep(deps, end).then(
    () => ({}),
    // The job is what it is, whatever becomes of its rubbish. Recovery tries again; but of a failed one only with all
    // the rest, since somebody may have it tried again meanwhile, and it then makes new files.
    (error: unknown) => {
      deps.onError(error, { jobId: session.job.id });
      return end.status === 'failed' ? {} : { leftovers: true as const };
    },
  );
  await session.update((job) => ({ value: { ...ended(job), ...leftovers }, events }));
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
  if (isUnavailable(error)) {
    deps.onError(error, { jobId: session.job.id });
    return giveBack(session, unavailableMs);
  }
  await failJob(deps, session, toServiceError(error), slowest);
  return 'done';
};

/** The node that has run longest: the one to name when the flow's time is up. */
export const longestRunning = (job: JobRecord): string => {
  const started = job.tasks.filter((task) => task.status === 'running' || task.status === 'retrying');
  const [first] = started.toSorted((a, b) => (a.startedAt ?? '').localeCompare(b.startedAt ?? ''));
  return (first ?? job.tasks.find((task) => !isTaskSettled(task)) ?? job.tasks[0])?.nodeId ?? '';
};

const release = async (deps: EngineDeps, session: Session, error: HoldEnded): Promise<QueueOutcome> => {
  if (error.reason === 'shutdown') return giveBack(session, 0);
  // Whoever ended the job has swept it, perhaps before the last files of this hold were published. A failed one may be
  // tried again meanwhile, and is swept at its real end.
  const newest = (await deps.kvStore.get('jobs', session.job.id))?.value;
  const isOver = newest !== undefined && isEnded(newest) && newest.status !== 'failed';
  if (isOver) await sweepFiles(deps, newest, keptKeys(newest));
  return 'done';
};

/** In good order: nothing is lost, and it counts as no loss. When that cannot be written, the entry comes back anyway. */
const giveBack = async (session: Session, delayMs: number): Promise<QueueOutcome> => {
  await session.update((job) => ({ value: { ...withoutLease(job), tasks: job.tasks.map(toCutOff) } }));
  return { delayMs };
};

const failJob = async (deps: EngineDeps, session: Session, error: ServiceError, slowest: string): Promise<void> => {
  const { nodeId: named, ...details } = error.details ?? {};
  const nodeId = typeof named === 'string' ? named : slowest;
  const facts = Object.keys(details).length === 0 ? {} : { details };
  const told = { code: error.code, message: error.message, nodeId, ...facts };
  reportCause(deps, session.job, nodeId, error);
  // One who holds the job no more must not remove what the next one makes.
  await session.renew();
  await endJob(deps, session, (job) => failedJob(job, told, now(deps)), failureEvents(told));
};

type JobError = NonNullable<JobRecord['error']>;

/** The job when it has failed, at a time in ISO 8601; what did not come to its end is cancelled. */
export const failedJob = (job: JobRecord, error: JobError, endedAt: string): JobRecord => {
  const rest = withTask(withoutPause(withoutLease(job)), error.nodeId, { status: 'failed', error, endedAt });
  const tasks = rest.tasks.map((task) => (isSaved(task) ? task : { ...task, status: 'cancelled' as const }));
  return { ...rest, tasks, status: 'failed', error, endedAt };
};

/** What is told of it. */
export const failureEvents = (error: JobError): readonly ServiceEvent[] => [
  { type: 'node_failed', nodeId: error.nodeId, error },
  { type: 'flow_error', error },
];
