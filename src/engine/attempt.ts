/** One node of a running job: its tries, its checkpoint, and what becomes of its inputs. */
import { errorTable, ServiceError, toServiceError } from '../domain/errors.ts';
import type { EventError } from '../domain/event.ts';
import { findTask, type JobFile, type TaskRecord, withTask } from '../domain/job.ts';
import { garbageAfter, inputFiles } from './plan.ts';
import type { EngineDeps } from './records.ts';
import { runNode } from './run-node.ts';
import type { Session } from './session.ts';

/**
 * Runs the node once. Resolves when it is checkpointed, or when it is to be tried again (`retryAt` is then in the
 * record); rejects with what ends the job.
 */
export const runTask = async (deps: EngineDeps, session: Session, nodeId: string): Promise<void> => {
  const attempt = (findTask(session.job, nodeId)?.attempt ?? 0) + 1;
  await session.update((job) => {
    const started: TaskRecord = { nodeId, status: 'running', attempt, startedAt: isoNow(deps) };
    return {
      value: { ...job, tasks: job.tasks.map((one) => (one.nodeId === nodeId ? started : one)) },
      events: [{ type: 'node_started', nodeId }],
    };
  });
  try {
    await checkpoint(deps, session, nodeId, await deliver(deps, session, nodeId));
  } catch (error) {
    session.signal.throwIfAborted();
    await retryOrFail(deps, session, nodeId, attempt, toServiceError(error));
  }
};

const isoNow = (deps: EngineDeps): string => new Date(deps.clock.now()).toISOString();

const deliver = (deps: EngineDeps, session: Session, nodeId: string): Promise<readonly JobFile[]> => {
  const files = inputFiles(session.flow, session.job, nodeId);
  const node = session.flow.nodes[nodeId];
  if (deps.kinds[node?.type ?? '']?.role === 'output') return Promise.resolve(files);
  return withTimeout(node?.timeout, session.signal, (signal) => runNode(deps, session, nodeId, files, signal));
};

const withTimeout = async <T>(
  timeout: number | undefined,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (timeout === undefined) return run(outer);
  const controller = new AbortController();
  const error = new ServiceError('TIMEOUT', `The node has run for more than ${timeout} ms`, { details: { timeout } });
  const timer = setTimeout(() => controller.abort(error), timeout);
  return run(AbortSignal.any([outer, controller.signal])).finally(() => clearTimeout(timer));
};

const checkpoint = async (
  deps: EngineDeps,
  session: Session,
  nodeId: string,
  files: readonly JobFile[],
): Promise<void> => {
  await session.update((job) => ({
    value: withTask(job, nodeId, { status: 'completed', files, endedAt: isoNow(deps) }),
    events: [{ type: 'node_completed', nodeId }],
  }));
  const garbage = garbageAfter(session.flow, session.job, nodeId);
  // What cannot be removed now is removed with the job.
  await Promise.allSettled(garbage.map((file) => deps.storage(file.storageId).remove(file.key)));
};

const retryOrFail = async (
  deps: EngineDeps,
  session: Session,
  nodeId: string,
  attempt: number,
  error: ServiceError,
): Promise<void> => {
  const node = session.flow.nodes[nodeId];
  const retries = node?.retries ?? session.flow.retries ?? deps.defaults.retries;
  // A node's timeout is worth one more try, whatever it is allowed (WIRE 7).
  const allowed = error.code === 'TIMEOUT' ? Math.min(1, retries) : retries;
  if (!errorTable[error.code].retryable || attempt > allowed) {
    const details = { ...error.details, nodeId };
    throw new ServiceError(error.code, error.message, { details, cause: error.cause ?? error });
  }
  const told: EventError = { code: error.code, message: error.message, nodeId };
  const retryAt = deps.clock.now() + deps.retryDelay(attempt);
  await session.update((job) => ({
    value: withTask(job, nodeId, { status: 'retrying', error: told, retryAt }),
    events: [{ type: 'node_retrying', nodeId, attempt, error: told }],
  }));
};
