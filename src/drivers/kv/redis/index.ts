/**
 * Records in Redis, for any number of replicas. Each conditional operation is one script, so the record, its log, its
 * deadline, its places in lists and the counters of its client change together or not at all.
 *
 * `keys` names everything, `records` and `jobs` send the commands, the `.lua` files are the scripts, `replies` checks
 * what comes back, `check` looks at the server once. Beside the records are the owners of uploads
 * (`drivers/owners/redis`) and the job queue (`drivers/queue/bullmq`). How connections fail: `drivers/redis`.
 */
import type { Redis } from 'ioredis';
import type { JobQueue } from '../../../ports/job-queue.ts';
import type { KvStore } from '../../../ports/kv-store.ts';
import { type RedisOwners, redisOwners } from '../../owners/redis/index.ts';
import { type BullmqQueue, bullmqQueue } from '../../queue/bullmq/index.ts';
import { answer, connect, patiently, prefixOf, type RedisAddress, ready } from '../../redis.ts';
import { StartError } from '../../start-error.ts';
import { checkServer } from './check.ts';
import { createJobs } from './jobs.ts';
import { createKeys, type Keys } from './keys.ts';
import { createRecords } from './records.ts';

export interface RedisKvStoreOptions extends RedisAddress {
  /** Hears what the server should be set to: a Redis that forgets, or that throws keys away. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Hears why the server's settings could not be looked at. */
  readonly onDebug?: ((text: string) => void) | undefined;
}

/** Milliseconds for which a start waits for Redis. */
const startMs = 10_000;

/** Opens the store. Throws a `StartError` when Redis cannot be reached within ten seconds, and when it is a cluster. */
export const redisKvStore = async (options: RedisKvStoreOptions): Promise<KvStore> => {
  const client = connect(options);
  const keys = createKeys(prefixOf(options));
  const records = createRecords(client, keys);
  const jobs = createJobs(client, keys);
  const run = <T>(work: () => Promise<T>): Promise<T> => answer(client, work);
  const end = performance.now() + startMs;
  const owners = await patiently(() => enter(client, keys, options, end - performance.now()), startMs).catch(
    (error) => {
      client.disconnect();
      throw error instanceof StartError ? error : unreachable(options, error);
    },
  );
  let queue: BullmqQueue | undefined;

  return {
    get: (collection, id) => run(() => records.get(collection, id)),
    commit: async (change) => {
      const write = records.toWrite(change);
      return run(() => records.commit(write)).catch((error) => {
        if (change.collection === 'uploads') owners.doubt(change.id);
        throw error;
      });
    },
    remove: (collection, id, expectedVersion) => run(() => records.remove(collection, id, expectedVersion)),
    events: (collection, id, after) => run(() => records.events(collection, id, after)),
    due: (collection, until, limit) => run(() => records.due(collection, until, limit)),
    listJobs: (filter) => run(() => jobs.list(filter)),
    isPinned: (definitionHash) => run(() => jobs.isPinned(definitionHash)),
    usage: (clientId) => run(() => records.usage(clientId)),
    // What Redis has acknowledged is as durable as its `appendfsync` makes it.
    flush: async () => {},
    queue: (): JobQueue => {
      queue ??= bullmqQueue({ ...options, client });
      return queue;
    },
    owners: () => owners,
    ping: async () => {
      await run(() => client.ping());
    },
    close: async () => {
      owners.close();
      await queue?.abandon();
      client.disconnect();
    },
  };
};

/** Resolves when the server is one that can be used, and tells this replica what concerns it. */
const enter = async (client: Redis, keys: Keys, options: RedisKvStoreOptions, ms: number): Promise<RedisOwners> => {
  await ready(client, Math.max(1, ms)).catch((cause) => {
    throw unreachable(options, cause);
  });
  await checkServer(client, options);
  const owners = redisOwners({ address: options, client, record: (id) => keys.record('uploads', id) });
  await owners.opened.catch((error) => {
    owners.close();
    throw error;
  });
  return owners;
};

const unreachable = ({ url }: RedisAddress, cause: unknown): StartError =>
  new StartError(`Redis at ${new URL(url).host} cannot be reached or entered`, { cause });
