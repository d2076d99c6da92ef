/**
 * The worker pool: forked children that run nodes, so that heavy work never slows uploads, can be ended at any moment,
 * and takes nothing with it when it crashes. `child.ts` watches and ends one of them, `program.ts` is what
 * it runs; `nodes` holds the kinds.
 *
 * Files go in and out by path, never as bytes. tinypool keeps the children and hands out the tasks; this file adds
 * what the port promises: an answer only once the child is gone, and a limit of its memory.
 */
import { extname } from 'node:path';
import { Tinypool } from 'tinypool';
import { ServiceError } from '../domain/errors.ts';
import { pluginUrl } from '../nodes/plugins/load-kinds.ts';
import type { WorkerOutput, WorkerPool, WorkerTask } from '../ports/worker-pool.ts';
import { type ChildWatch, end, watchChild } from './child.ts';
import type { WorkerAnswer } from './program.ts';

export interface WorkerPoolOptions {
  /** Children; 0: none, and nothing can run here. */
  readonly size: number;
  /** Bytes of resident memory that one child may use. Watched on Linux only. */
  readonly memoryLimit: number;
  /** Modules of further kinds; the default is none. */
  readonly plugins?: readonly string[];
  /** Told of children that die without a task; they are replaced. */
  readonly onError?: (error: Error) => void;
}

/** Milliseconds before a child that died while it started is replaced. */
const refillDelay = 1000;

/** Nothing of the server's environment, which holds its secrets, reaches the children; they need no PATH. */
const environment = {
  // Without it freed pictures stay with the process: 260 instead of 156 MiB after 24 of them.
  MALLOC_ARENA_MAX: '2',
  TZ: 'UTC',
};

/** Starts the children and keeps `size` of them. */
export const workerPool = ({ size, memoryLimit, plugins = [], onError }: WorkerPoolOptions): WorkerPool => {
  if (size === 0) return emptyPool;
  const pool = startChildren(size, plugins);
  const running = new Set<Promise<unknown>>();
  let closed: Promise<unknown> | undefined;

  // tinypool replaces no child after one has died while it started, and a task could then wait for ever.
  const refill = () => {
    if (closed === undefined && pool.threads.length < size) void pool.recycleWorkers();
  };
  const refillSoon = () => void setTimeout(refill, refillDelay).unref();
  pool.on('error', (error: Error) => {
    onError?.(error);
    refillSoon();
  });

  const run: WorkerPool['run'] = async (task, signal, tell = () => {}) => {
    signal.throwIfAborted();
    if (closed !== undefined) throw poolClosed();
    const outputs = runInChild(pool, task, signal, watchChild(memoryLimit, tell)).catch((error: unknown) => {
      refillSoon();
      throw closed !== undefined && !signal.aborted ? poolClosed() : error;
    });
    running.add(outputs);
    // Alone, a child that starts would let the process end under the task that waits for it.
    const stay = setInterval(() => {}, 2 ** 30);
    return outputs.finally(() => {
      clearInterval(stay);
      running.delete(outputs);
    });
  };
  const close = async () => {
    closed ??= pool.destroy().then(() => Promise.allSettled(running));
    await closed;
  };
  return { size, run, close };
};

/** The caller is shutting down: a code that lets the job be tried again. */
const poolClosed = () => new ServiceError('NODE_CRASHED', 'The worker pool is closed');

const emptyPool: WorkerPool = {
  size: 0,
  run: () => Promise.reject(new ServiceError('INTERNAL_ERROR', 'There are no workers in this process')),
  close: () => Promise.resolve(),
};

const startChildren = (size: number, plugins: readonly string[]): Tinypool =>
  new Tinypool({
    runtime: 'child_process',
    // `.ts` in a clone, `.js` in the installed package.
    filename: new URL(`program${extname(import.meta.url)}`, import.meta.url).href,
    name: 'run',
    minThreads: size,
    maxThreads: size,
    env: environment,
    // Else the children get the server's own, `--env-file` and `--watch` among them.
    execArgv: [],
    argv: plugins.map(pluginUrl),
  });

const runInChild = async (
  pool: Tinypool,
  task: WorkerTask,
  signal: AbortSignal,
  child: ChildWatch,
): Promise<WorkerOutputs> => {
  const stop = new AbortController();
  let ended: Promise<unknown> | undefined;
  const abort = () => {
    ended = Promise.all(removedBy(pool, () => stop.abort()).map(end));
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const answer: WorkerAnswer = await pool
      .run(task, { signal: stop.signal, channel: child.channel })
      .catch((cause: unknown) => (ended === undefined ? child.died(cause) : undefined));
    await ended;
    signal.throwIfAborted();
    return outputsOf(answer);
  } finally {
    child.release();
    signal.removeEventListener('abort', abort);
  }
};

/** The ids of the children that `action` takes out of the pool: tinypool does not tell which child has which task. */
const removedBy = (pool: Tinypool, action: () => void): readonly number[] => {
  const before = pool.threads;
  action();
  const after = new Set(pool.threads);
  return before.filter((worker) => !after.has(worker)).map((worker) => worker.threadId);
};

type WorkerOutputs = readonly (readonly WorkerOutput[])[];

const outputsOf = (answer: WorkerAnswer): WorkerOutputs => {
  if ('outputs' in answer) return answer.outputs;
  const { code, message, details, cause } = answer.failure;
  throw new ServiceError(code, message, { ...(details && { details }), cause });
};
