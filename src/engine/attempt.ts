/** One unit of a running job: its tries, its checkpoint, and what becomes of its inputs. */
import { type ErrorCode, errorTable, isUnavailable, ServiceError, toServiceError } from '../domain/errors.ts';
import type { EventError } from '../domain/event.ts';
import { findTask, type JobRecord, type TaskRecord, toCutOff, toPending, withTask } from '../domain/job.ts';
import { garbageAfter } from './plan.ts';
import { type EngineDeps, reportCause } from './records.ts';
import { type Delivery, passFiles, runInWorker } from './run-node.ts';
import type { Session } from './session.ts';
import type { Release } from './slots.ts';
import { createSteps, HeldBack, type Steps } from './steps.ts';
import { membersOf, type Unit } from './units.ts';

/** A node whose process has died so often gets no other try. */
const maxCrashes = 3;

/** A node's timeouts are worth one more try, whatever it is allowed for other failures (WIRE 7). */
const maxTimeouts = 1;

/** Files of one job, those that are handed on not counted. */
const maxFiles = 1000;

/**
 * Runs the unit once. Resolves when it is checkpointed, skipped for its failure, to be tried again (`retryAt` is then in
 * the record), or did not begin since somebody has stopped the job; rejects with what ends the job, or the hold on it.
 */
export const runUnit = async (deps: EngineDeps, session: Session, unit: Unit): Promise<void> => {
  const steps = createSteps(deps, session, unit);
  try {
    await checkpoint(deps, session, unit, await deliver(deps, session, unit, steps));
  } catch (thrown) {
    await steps.settled();
    session.signal.throwIfAborted();
    // What went wrong before a worker had it is told of the first node as well.
    const error: unknown = await steps.begin().then(
      () => thrown,
      (failure: unknown) => failure,
    );
    session.signal.throwIfAborted();
    if (error instanceof HeldBack) return;
    // No try of the node: the hold ends, and the job goes on from here when the stores answer again.
    if (isUnavailable(error)) throw error;
    await retryOrFail(deps, session, unit, steps.current(), toServiceError(error));
  }
};

const deliver = async (deps: EngineDeps, session: Session, unit: Unit, steps: Steps): Promise<Delivery> => {
  const passed = await decide(deps, session, unit, steps);
  if (passed !== undefined) return passed;
  const leave = await deps.scratchSlots.take(session.signal);
  try {
    return await runSteps(deps, session, unit, steps);
  } finally {
    leave();
  }
};

/** Begins only when it can be decided here: a node that waits for a worker has not begun. */
const decide = async (deps: EngineDeps, session: Session, unit: Unit, steps: Steps): Promise<Delivery | undefined> => {
  let passed: Delivery | undefined;
  try {
    passed = passFiles(deps, session, unit);
  } catch (error) {
    await steps.begin();
    throw error;
  }
  if (passed !== undefined) await steps.begin();
  return passed;
};

/** The unit begins when a worker is free for it, and with it the time that it may take. */
const runSteps = async (deps: EngineDeps, session: Session, unit: Unit, steps: Steps): Promise<Delivery> => {
  const limit = timeLimit(session.flow.nodes[membersOf(unit)[0] ?? '']?.timeout);
  const signal = AbortSignal.any([session.signal, limit.signal]);
  let release: Release = () => {};
  const begin = async () => {
    release = await deps.slots.take(session.signal);
    await steps.begin();
    limit.begin();
  };
  try {
    const hooks = { begin, tell: steps.tell, computed: () => release() };
    const delivery = await runInWorker(deps, session, unit, signal, hooks);
    await steps.settled();
    return delivery;
  } finally {
    release();
    limit.end();
  }
};

/** Aborts so many milliseconds after `begin`; a node with a time of its own is alone in its unit. */
const timeLimit = (timeout: number | undefined) => {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const expire = () => {
    const message = `The node has run for more than ${timeout} ms`;
    controller.abort(new ServiceError('TIMEOUT', message, { details: { timeout } }));
  };
  return {
    signal: controller.signal,
    begin: () => {
      if (timeout !== undefined) timer = setTimeout(expire, timeout);
    },
    end: () => clearTimeout(timer),
  };
};

const isoNow = (deps: EngineDeps): string => new Date(deps.clock.now()).toISOString();

const checkpoint = async (deps: EngineDeps, session: Session, unit: Unit, delivery: Delivery): Promise<void> => {
  requireFewFiles(session.job, delivery);
  await session.update((job) => ({
    value: { ...job, tasks: job.tasks.map((task) => saved(task, unit, delivery, isoNow(deps))) },
    events: membersOf(unit)
      .filter((nodeId) => findTask(job, nodeId)?.status !== 'completed')
      .map((nodeId) => ({ type: 'node_completed' as const, nodeId })),
  }));
  await removeGarbage(deps, session, unit);
};

const requireFewFiles = (job: JobRecord, delivery: Delivery): void => {
  const keys = new Set(job.tasks.flatMap((task) => task.files ?? []).map(({ key }) => key));
  for (const [nodeId, files] of delivery) {
    for (const { key } of files) keys.add(key);
    if (keys.size <= maxFiles) continue;
    const details = { nodeId, limit: 'files', max: maxFiles, actual: keys.size };
    throw new ServiceError('FILE_TOO_LARGE', `A job may have ${maxFiles} files`, { details });
  }
};

const saved = (task: TaskRecord, unit: Unit, delivery: Delivery, endedAt: string): TaskRecord => {
  if (!membersOf(unit).includes(task.nodeId)) return task;
  const { unsaved: _, progress: __, error: ___, retryAt: ____, ...rest } = task;
  const files = delivery.get(task.nodeId);
  // The end of an inner node is known already, unless it could not be written.
  const done = task.status === 'completed' ? rest : { ...rest, status: 'completed' as const, endedAt };
  return files === undefined ? done : { ...done, files };
};

const removeGarbage = async (deps: EngineDeps, session: Session, unit: Unit): Promise<void> => {
  const garbage = garbageAfter(session.flow, session.job, unit);
  // What cannot be removed now is removed with the job.
  await Promise.allSettled(garbage.map((file) => deps.storage(file.storageId).remove(file.key)));
};

const retryOrFail = async (
  deps: EngineDeps,
  session: Session,
  unit: Unit,
  current: string,
  error: ServiceError,
): Promise<void> => {
  const { nodeId = current, ...details } = error.details ?? {};
  const facts = Object.keys(details).length === 0 ? {} : { details };
  const told = { code: error.code, message: error.message, nodeId: String(nodeId), ...facts };
  const counts = countFailure(findTask(session.job, told.nodeId), error.code);
  const isTriedAgain = isWorthATry(deps, session, told, counts);
  if (!isTriedAgain && session.flow.nodes[told.nodeId]?.onError !== 'skip') {
    throw new ServiceError(error.code, error.message, {
      details: { ...details, nodeId: told.nodeId },
      cause: error.cause,
    });
  }
  // Where the job goes on, nobody else tells what is behind it.
  reportCause(deps, session.job, told.nodeId, error);
  return isTriedAgain ? tryAgain(deps, session, unit, told, counts) : skipFailed(deps, session, unit, told);
};

type NodeError = EventError & { readonly nodeId: string };

/** How often the node has failed in ways of which only so many are forgiven; none is left out. */
type Counts = Pick<TaskRecord, 'crashes' | 'timeouts'>;

const countFailure = ({ crashes = 0, timeouts = 0 }: Counts = {}, code: ErrorCode): Counts => ({
  ...(crashes > 0 || code === 'NODE_CRASHED' ? { crashes: crashes + (code === 'NODE_CRASHED' ? 1 : 0) } : {}),
  ...(timeouts > 0 || code === 'TIMEOUT' ? { timeouts: timeouts + (code === 'TIMEOUT' ? 1 : 0) } : {}),
});

const isWorthATry = (
  deps: EngineDeps,
  session: Session,
  { code, nodeId }: NodeError,
  { crashes = 0, timeouts = 0 }: Counts,
): boolean => {
  const { attempt = 0, forgiven = 0 } = findTask(session.job, nodeId) ?? {};
  const retries = session.flow.nodes[nodeId]?.retries ?? session.flow.retries ?? deps.defaults.retries;
  return errorTable[code].retryable && crashes < maxCrashes && timeouts <= maxTimeouts && attempt - forgiven <= retries;
};

/** The whole unit is to run again, but only the node that has failed tells so. */
const tryAgain = async (deps: EngineDeps, session: Session, unit: Unit, error: NodeError, counts: Counts) => {
  const { nodeId } = error;
  const attempt = findTask(session.job, nodeId)?.attempt ?? 0;
  const retryAt = deps.clock.now() + deps.retryDelay(attempt);
  await session.update((job) => ({
    value: withTask(withoutProgress(job, unit, nodeId), nodeId, {
      ...{ status: 'retrying', error, retryAt },
      ...counts,
    }),
    events: [{ type: 'node_retrying', nodeId, attempt, error }],
  }));
};

/** The job with the unit as it was before it began; the try counts for the node that has failed. */
const withoutProgress = (job: JobRecord, unit: Unit, failed: string): JobRecord => {
  const reset = (task: TaskRecord) => toPending(task.nodeId === failed ? task : toCutOff(task));
  return { ...job, tasks: job.tasks.map((task) => (membersOf(unit).includes(task.nodeId) ? reset(task) : task)) };
};

/** `onError: skip`: the job goes on as if no file had reached the node. */
const skipFailed = async (deps: EngineDeps, session: Session, unit: Unit, error: NodeError): Promise<void> => {
  const { nodeId } = error;
  await session.update((job) => ({
    value: {
      ...withTask(job, nodeId, { status: 'skipped', error, endedAt: isoNow(deps) }),
      warnings: [...(job.warnings ?? []), `${nodeId}: ${error.code}: ${error.message}`],
    },
    events: [{ type: 'node_skipped', nodeId, error }],
  }));
  await removeGarbage(deps, session, unit);
};
