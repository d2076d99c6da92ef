/**
 * The job queue of many replicas: BullMQ, which hands out entries, renews the locks of those that are held and finds
 * those whose holder has died. Nothing of BullMQ leaves this file.
 *
 * An entry lives until it is done: no attempts, no results, no history. What became of its job is in the job's record.
 */
import { DelayedError, isNotConnectionError, type Job, Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Consumer, JobQueue, QueueHandler, QueueOutcome } from '../../../ports/job-queue.ts';
import { answer, connectPatiently, prefixOf, type RedisAddress } from '../../redis.ts';

/** Milliseconds until an entry comes back after its handler has thrown. */
const afterFailure = 1000;
/** How often an entry may lose its holder before it is given up; the engine has counted to its own limit by then. */
const maxStalledCount = 10;

export interface BullmqQueueOptions extends RedisAddress {
  /** Sends the commands of those who enqueue; it stays its owner's. */
  readonly client: Redis;
  /** Milliseconds for which a claim holds without renewal; it is renewed at half of them. */
  readonly lock?: number;
  /** Milliseconds between two looks for entries whose holder has died. */
  readonly stalled?: number;
}

export interface BullmqQueue extends JobQueue {
  /** Stops at once: handlers that run keep their entries until the lock lapses. */
  abandon(): Promise<void>;
}

/** What is kept of an entry. */
interface Payload {
  readonly jobId: string;
}

export const bullmqQueue = (options: BullmqQueueOptions): BullmqQueue => {
  const { client, onError = () => {} } = options;
  const queue = new Queue<Payload>('queue', {
    prefix: prefixOf(options),
    skipVersionCheck: true,
    connection: client,
    // BullMQ's own log of events, which nobody reads here.
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', unlessExpected(onError));
  const consumers = new Set<Slots>();

  return {
    enqueue: async ({ id, jobId }, { delayMs = 0 } = {}) => {
      await answer(client, () => queue.add('job', { jobId }, { jobId: id, delay: delayMs }));
    },
    consume: (handler, { concurrency }) => {
      const slots = createSlots(handler, concurrency, options);
      consumers.add(slots);
      return slots;
    },
    ping: async () => {
      await answer(client, () => client.ping());
    },
    close: async () => {
      await Promise.all([...consumers].map((consumer) => consumer.close()));
      await queue.close();
    },
    abandon: async () => {
      await Promise.all([...consumers].map((consumer) => consumer.abandon()));
      await queue.close();
    },
  };
};

/** An entry went to somebody else while the process stood still. The epoch of the job's record settles that. */
const lostEntry =
  /^(could not renew lock for|Missing (key|lock) for|Lock mismatch for) job |is not in the active state/;

/** What nobody else tells of: connections do so themselves, once per outage. */
const unlessExpected =
  (onError: (error: unknown) => void) =>
  (error: Error): void => {
    if (isNotConnectionError(error) && !lostEntry.test(error.message)) onError(error);
  };

interface Slots extends Consumer {
  abandon(): Promise<void>;
}

const createSlots = (
  handler: QueueHandler,
  concurrency: number,
  { lock = 10_000, stalled = 3000, onError = () => {}, ...options }: BullmqQueueOptions,
): Slots => {
  const connection = connectPatiently(options);
  const worker = new Worker<Payload>('queue', (job, token) => process(job, token), {
    prefix: prefixOf(options),
    skipVersionCheck: true,
    connection,
    concurrency,
    lockDuration: lock,
    stalledInterval: stalled,
    maxStalledCount,
    // After a lost connection, milliseconds: the default is a quarter of a minute.
    runRetryDelay: 1000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on('error', unlessExpected(onError));
  const running = new Set<Promise<QueueOutcome>>();
  let closing: Promise<void> | undefined;

  const outcomeOf = async (job: Job<Payload>): Promise<QueueOutcome> => {
    // It was on its way when the consumer was closed.
    if (closing !== undefined) return { delayMs: 0 };
    try {
      return await handler({ id: job.id ?? '', jobId: job.data.jobId });
    } catch {
      // What went wrong is the handler's to tell; here the entry only comes back later.
      return { delayMs: afterFailure };
    }
  };
  const process = async (job: Job<Payload>, token: string | undefined): Promise<void> => {
    const handled = outcomeOf(job);
    running.add(handled);
    const outcome = await handled.finally(() => running.delete(handled));
    if (outcome === 'done') return;
    // When that fails the entry is another's by now, or comes back when its lock lapses.
    await job.moveToDelayed(Date.now() + outcome.delayMs, token).catch(unlessExpected(onError));
    throw new DelayedError();
  };
  const close = async (force: boolean): Promise<void> => {
    // Without Redis there is nobody to tell an outcome, and BullMQ would wait for the connection.
    const lost = connection.status !== 'ready';
    if (lost && !force) await Promise.all(running);
    await worker.close(force || lost);
    connection.disconnect();
  };

  return {
    close: () => {
      closing ??= close(false);
      return closing;
    },
    abandon: async () => {
      closing ??= close(true);
      connection.disconnect();
      await closing;
    },
  };
};
