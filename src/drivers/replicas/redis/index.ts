/**
 * The replicas at one Redis. One that reads other directories or buckets than the others would find no upload of theirs,
 * and lose no word about it: so each one holds a lease that names its storages, and who does not fit to those that are
 * there is refused.
 *
 * `join.lua` decides. Leases are measured by the clock of Redis alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { systemClock } from '../../clock.ts';
import { answer, connect, patiently, prefixOf, type RedisAddress, ready, script } from '../../redis.ts';
import { StartError } from '../../start-error.ts';

export interface ReplicaOptions extends RedisAddress {
  /** The id of its storages: see `describeStorages`. */
  readonly files: string;
  /** They are buckets, or the operator has said that other replicas use the same directories. */
  readonly shared: boolean;
  /** Hears that this replica, silent for longer than its lease, fits no more to those that are there by now. */
  readonly onRefused: (error: StartError) => void;
  /** Milliseconds for which a replica that has died counts; it is renewed three times as often. Default: 5000. */
  readonly lease?: number;
}

export interface Replica {
  readonly id: string;
  /** The ids of all replicas that live, this one included; the newest that joined may be missing. */
  live(): Promise<readonly string[]>;
  /** Gives the lease back, so that another one may come at once. */
  leave(): Promise<void>;
}

/** Milliseconds for which a start waits for an answer of Redis. */
const startMs = 10_000;

/** Milliseconds between two tries of a replica that waits for a lease to end. */
const betweenTries = 250;

const advice = {
  files:
    'Another replica at this Redis has its files in another directory or bucket. Replicas need the same: set S3_BUCKET, ' +
    'or DATA_DIR to one that they share and DATA_DIR_SHARED=on, and the same STORAGES_FILE. Services that have nothing ' +
    'to do with each other need a REDIS_KEY_PREFIX each',
  alone:
    'Another replica at this Redis has its files in the same DATA_DIR. If it is on a file system that all replicas ' +
    'share, say so to each of them: DATA_DIR_SHARED=on',
};

type Joined = readonly string[] | keyof typeof advice;

type Command = (...args: (string | number)[]) => Promise<Joined>;

/**
 * Joins the replicas. The lease of one that has died is waited for; throws a `StartError` when somebody is there who does
 * not fit.
 */
export const joinReplicas = async (options: ReplicaOptions): Promise<Replica> => {
  const { files, shared, lease = 5000 } = options;
  const client = connect(options);
  client.defineCommand('sluiceJoin', { lua: script('replicas/redis/join.lua'), numberOfKeys: 1 });
  const key = `${prefixOf(options)}:replicas`;
  const id = systemClock.newId();
  const sharing = shared ? 'shared' : 'alone';
  const join = (): Promise<Joined> =>
    answer(client, () => (client as Redis & { sluiceJoin: Command }).sluiceJoin(key, id, files, sharing, lease));
  try {
    await ready(client, startMs);
    await waitToJoin(() => patiently(join, startMs), lease);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const renew = async (): Promise<void> => {
    const joined = await join();
    if (typeof joined !== 'string') return;
    clearInterval(renewal);
    options.onRefused(new StartError(advice[joined]));
  };
  // Redis away: the connection tells of that, and the lease of all others ends as well.
  const renewal = setInterval(() => void renew().catch(() => {}), lease / 3);
  renewal.unref();
  return {
    id,
    live: async () => {
      const joined = await patiently(join, startMs);
      if (typeof joined === 'string') throw new StartError(advice[joined]);
      return joined;
    },
    leave: async () => {
      clearInterval(renewal);
      await answer(client, () => client.zrem(key, `${id} ${files} ${sharing}`)).catch(() => {});
      client.disconnect();
    },
  };
};

const waitToJoin = async (join: () => Promise<Joined>, lease: number): Promise<void> => {
  // Twice a try more than the lease: what is refused then is refused by one that lives.
  for (let waited = 0; ; waited += betweenTries) {
    const joined = await join();
    if (typeof joined !== 'string') return;
    if (waited > lease + 2 * betweenTries) throw new StartError(advice[joined]);
    await sleep(betweenTries);
  }
};
