/** The records, their logs and their deadlines: every command and script. Replies are checked, as they come untyped. */
import type { Redis } from 'ioredis';
import type { LoggedEvent } from '../../../domain/event.ts';
import type { JobRecord } from '../../../domain/job.ts';
import { requireWithin, type UsageChange } from '../../../domain/quota.ts';
import type { Usage } from '../../../domain/upload.ts';
import type { Change, Collection, Collections, Entry } from '../../../ports/kv-store.ts';
import { script } from '../../redis.ts';
import { type Keys, listsOf } from './keys.ts';
import { integer, list, text, texts } from './replies.ts';

/** Entries of one log that are kept at least, and for how long after the newest one, milliseconds. */
const logLength = 10_000;
const logLife = 7 * 24 * 3_600_000;

/** The methods that `defineCommand` adds: the number of keys comes first where the script has none of its own. */
interface Scripts {
  sluiceCommit(keys: number, ...args: (string | number)[]): Promise<unknown>;
  sluiceRemove(...args: string[]): Promise<unknown>;
}

interface Write {
  readonly names: readonly string[];
  readonly args: readonly (string | number)[];
  readonly usage: UsageChange | undefined;
}

const define = (client: Redis): Redis & Scripts => {
  client.defineCommand('sluiceCommit', { lua: script('kv/redis/commit.lua') });
  client.defineCommand('sluiceRemove', { lua: script('kv/redis/remove.lua'), numberOfKeys: 3 });
  return client as Redis & Scripts;
};

export const createRecords = (connection: Redis, keys: Keys) => {
  const client = define(connection);

  return {
    get: async <C extends Collection>(collection: C, id: string): Promise<Entry<Collections[C]> | undefined> => {
      const [version, body] = list(await client.hmget(keys.record(collection, id), 'version', 'body'));
      if (version === null || version === undefined) return undefined;
      return { value: JSON.parse(text(body)) as Collections[C], version: integer(version) };
    },
    /** A change as it is sent; made when it is asked for, so that the caller may change its value afterwards. */
    toWrite: (change: Change<Collection>): Write => ({
      names: namesOf(keys, change),
      args: argumentsOf(change),
      usage: change.usage,
    }),
    /** The new version, if the record is at the expected one. Errors: `QUOTA_EXCEEDED`. */
    commit: async ({ names, args, usage }: Write): Promise<number | undefined> => {
      const reply = await client.sluiceCommit(names.length, ...names, ...args);
      if (reply === null) return undefined;
      if (Array.isArray(reply)) throw refusal(reply, usage);
      return integer(reply);
    },
    remove: async (collection: Collection, id: string, expectedVersion: number | undefined): Promise<boolean> => {
      const names = [keys.record(collection, id), keys.log(collection, id), keys.deadlines(collection)];
      return integer(await client.sluiceRemove(...names, id, String(expectedVersion ?? ''))) === 1;
    },
    events: async (collection: Collection, id: string, after: number): Promise<readonly LoggedEvent[]> => {
      const entries = list(await client.xrange(keys.log(collection, id), `${after + 1}-0`, '+'));
      return entries.map((entry) => JSON.parse(text(list(list(entry)[1])[1])) as LoggedEvent);
    },
    due: async (collection: Collection, until: number, limit: number): Promise<readonly string[]> =>
      texts(await client.zrangebyscore(keys.deadlines(collection), '-inf', until, 'LIMIT', 0, limit)),
    usage: async (clientId: string | undefined): Promise<Usage> => {
      const counters = list(await client.hmget(keys.counters(clientId), 'openUploads', 'storedBytes'));
      return usageOf(counters.map((counter) => counter ?? '0'));
    },
  };
};

const namesOf = (keys: Keys, { collection, id, value, usage }: Change<Collection>): readonly string[] => [
  keys.record(collection, id),
  keys.log(collection, id),
  keys.deadlines(collection),
  keys.counters(usage?.clientId),
  ...(collection === 'jobs' ? listsOf(keys, value as JobRecord) : []),
];

/** As `commit.lua` counts them. */
const argumentsOf = (change: Change<Collection>): (string | number)[] => {
  const { id, expectedVersion, value, dueAt = '', usage, events = [] } = change;
  const seqs = events.map(({ seq }) => seq);
  if (seqs.some((seq, index) => index > 0 && seq <= (seqs[index - 1] ?? 0))) {
    throw new RangeError(`The events of ${change.collection}/${id} are not in order`);
  }
  const { delta, quota } = usage ?? {};
  return [
    ...[id, expectedVersion, JSON.stringify(value), dueAt, seqs.at(-1) ?? '', logLength, logLife],
    ...[usage === undefined ? '' : 'usage', delta?.openUploads ?? '', delta?.storedBytes ?? ''],
    ...[quota?.openUploads ?? '', quota?.storedBytes ?? ''],
    ...events.flatMap((event) => [event.seq, JSON.stringify(event)]),
  ];
};

const usageOf = ([openUploads, storedBytes]: readonly unknown[]): Usage => ({
  openUploads: Number(text(openUploads)),
  storedBytes: Number(text(storedBytes)),
});

/** Why the script has refused to count. */
const refusal = (counters: readonly unknown[], change: UsageChange | undefined): unknown => {
  try {
    if (change !== undefined) requireWithin(usageOf(counters), change);
    return new RangeError('Redis has refused to count what it has room for');
  } catch (error) {
    return error;
  }
};
