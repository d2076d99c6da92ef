/**
 * Engine, step 4 of an upload's path: walks the graph of a job from where its record stands to its end or its next
 * pause. Every step is a conditional write, so a crash anywhere is continued by the next claim.
 */
import { ServiceError } from '../domain/errors.ts';
import type { ServiceEvent } from '../domain/event.ts';
import { isHeldBack, isTaskSettled, type JobRecord, withoutLease, withTask } from '../domain/job.ts';
import type { QueueEntry, QueueOutcome } from '../ports/job-queue.ts';
import { runUnit } from './attempt.ts';
import { completeJob, endEarly } from './end.ts';
import { nextSteps } from './plan.ts';
import type { EngineDeps } from './records.ts';
import { claim, HoldEnded, type Session } from './session.ts';
import { settleInputs } from './settle-inputs.ts';
import { membersOf, type Unit } from './units.ts';

/** Waits longer than this give the slot back to the queue, milliseconds. */
const longestWaitMs = 5000;

/** So often may the holder of a job be lost while the same node runs. */
const maxLosses = 10;

/** Handles one queue entry. `shutdown` ends the work at the last checkpoint and puts the entry back. */
export type RunJob = (queued: QueueEntry, shutdown: AbortSignal) => Promise<QueueOutcome>;

export const createRun =
  (deps: EngineDeps): RunJob =>
  async (queued, shutdown) => {
    const session = await claim(deps, queued, shutdown);
    if (session === 'done' || 'delayMs' in session) return session;
    const deadline = startDeadline(deps, session);
    const running = new Map<Unit, Promise<void>>();
    try {
      return await walk(deps, session, running);
    } catch (error) {
      return await endEarly(deps, session, error, running).catch(whenLost);
    } finally {
      clearTimeout(deadline);
      await session.close();
    }
  };

/** Somebody else ended the job while this hold was about to: theirs counts. */
const whenLost = (error: unknown): QueueOutcome => {
  if (error instanceof HoldEnded) return 'done';
  throw error;
};

const timeoutOf = (deps: EngineDeps, { flow }: Session): number => flow.timeout ?? deps.defaults.timeout;

/** What is left of the flow's time limit. */
const timeLeft = (deps: EngineDeps, session: Session): number =>
  Math.max(0, timeoutOf(deps, session) - session.runningMs());

const startDeadline = (deps: EngineDeps, session: Session): NodeJS.Timeout => {
  const timeout = timeoutOf(deps, session);
  const error = new ServiceError('TIMEOUT', `The flow has run for more than ${timeout} ms`, { details: { timeout } });
  return setTimeout(() => session.end(error), timeLeft(deps, session));
};

const walk = async (deps: EngineDeps, session: Session, running: Map<Unit, Promise<void>>): Promise<QueueOutcome> => {
  const aborted = rejectOnAbort(session.signal);
  requireSurvivable(session.job);
  for (;;) {
    session.signal.throwIfAborted();
    const { wakes } = session.job;
    const woken = session.woken();
    if (!isHeldBack(session.job)) {
      await settleInputs(deps, session);
      await startReady(deps, session, running);
    }
    if (running.size === 0) {
      const outcome = await leave(deps, session, wakes, [aborted, woken]);
      if (outcome !== 'continue') return outcome;
      continue;
    }
    await rest(nextTryAt(session.job, deps.clock.now()) - deps.clock.now(), [aborted, woken, ...running.values()]);
  }
};

/** A node during which service after service is lost takes no other one with it. */
const requireSurvivable = (job: JobRecord): void => {
  const task = job.tasks.find(({ losses = 0 }) => losses >= maxLosses);
  if (task === undefined) return;
  const message = `The service was lost ${task.losses} times while the node ran`;
  throw new ServiceError('NODE_CRASHED', message, { details: { nodeId: task.nodeId } });
};

/** When the next node may be tried again, milliseconds since 1970; what is due by now has begun. */
const nextTryAt = (job: JobRecord, now: number): number =>
  Math.min(...job.tasks.map(({ retryAt = 0 }) => retryAt).filter((at) => at > now), Infinity);

const rejectOnAbort = (signal: AbortSignal): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
};

/** Skips what no file will reach, and starts what is ready and due. */
const startReady = async (deps: EngineDeps, session: Session, running: Map<Unit, Promise<void>>): Promise<void> => {
  let steps = nextSteps(session.flow, session.units, session.job);
  // Again after each write: what has ended meanwhile may skip more, and nobody would come back for it.
  for (; steps.skipped.length > 0; steps = nextSteps(session.flow, session.units, session.job)) {
    const { skipped } = steps;
    await session.update((job) => skip(job, skipped));
  }
  for (const unit of steps.ready) {
    if (running.has(unit) || retryAt(session.job, unit) > deps.clock.now()) continue;
    // One that has failed stays, so that its failure is heard of at the next rest, whenever it came.
    const run = runUnit(deps, session, unit).then(() => void running.delete(unit));
    // Nobody may be left to hear of it when the job ends first.
    run.catch(() => {});
    running.set(unit, run);
  }
};

/** When the unit may run again, milliseconds since 1970; 0 when it has not failed. */
const retryAt = (job: JobRecord, unit: Unit): number =>
  Math.max(...job.tasks.filter(({ nodeId }) => membersOf(unit).includes(nodeId)).map((task) => task.retryAt ?? 0));

const skip = (job: JobRecord, nodeIds: readonly string[]) => ({
  value: nodeIds.reduce((next, nodeId) => withTask(next, nodeId, { status: 'skipped' }), job),
  events: nodeIds.map((nodeId): ServiceEvent => ({ type: 'node_skipped', nodeId })),
});

/** Nothing runs: the job is done, is stopped, waits for a retry, or waits for uploads. */
const leave = async (
  deps: EngineDeps,
  session: Session,
  wakes: number,
  interrupts: readonly Promise<void>[],
): Promise<QueueOutcome | 'continue'> => {
  const { job } = session;
  if (job.tasks.every(isTaskSettled)) {
    await completeJob(deps, session);
    return 'done';
  }
  if (isHeldBack(job)) {
    const left = await session.update((latest) => (isHeldBack(latest) ? { value: withoutLease(latest) } : undefined));
    return left ? 'done' : 'continue';
  }
  const retries = job.tasks.filter((task) => task.status === 'retrying').map((task) => task.retryAt ?? 0);
  // The flow's time goes on meanwhile, and may be over before the retry.
  const wait =
    retries.length === 0 ? undefined : Math.min(Math.min(...retries) - deps.clock.now(), timeLeft(deps, session));
  if (wait !== undefined && wait <= longestWaitMs) {
    await rest(wait, interrupts);
    return 'continue';
  }
  return letGo(deps, session, wakes, wait);
};

/** Gives the job back, to be looked at in `wait` milliseconds, or as soon as one of its inputs comes. */
const letGo = async (
  deps: EngineDeps,
  session: Session,
  wakes: number,
  wait: number | undefined,
): Promise<QueueOutcome | 'continue'> => {
  // A wake-up that came meanwhile may be about an open input, and its entry found the job held: look again.
  const left = await session.update((latest) => {
    if (latest.wakes !== wakes || isHeldBack(latest)) return undefined;
    return wait === undefined ? pause(latest) : { value: { ...withoutLease(latest), waitsSince: deps.clock.now() } };
  });
  if (!left) return 'continue';
  return wait === undefined ? 'done' : { delayMs: wait };
};

const pause = (job: JobRecord) => {
  const value: JobRecord = { ...withoutLease(job), status: 'paused', pauseReason: 'uploads' };
  return { value, events: [{ type: 'flow_paused' as const }] };
};

/** Until something comes in between, but never for long: no wake-up is needed to look again. */
const rest = async (ms: number, interrupts: readonly Promise<void>[]): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(Math.max(0, ms), longestWaitMs));
  await Promise.race([promise, ...interrupts]).finally(() => clearTimeout(timer));
};
