/** Redis behind a sentinel: the master changes while commands run. */
import { setImmediate } from 'node:timers/promises';
import { Redis } from 'ioredis';
import t from 'tap';
import { redisEvents } from '../../src/drivers/events/redis/index.ts';
import { redisKvStore } from '../../src/drivers/kv/redis/index.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { findRedis, type RedisProcess } from '../services/redis.ts';
import { startWatched } from '../services/sentinel.ts';
import { skip } from '../support/redis.ts';
import { sampleUpload } from '../support/sample-records.ts';
import { until } from '../support/wait.ts';

const change = { collection: 'uploads', id: 'u1', value: sampleUpload() } as const;

/** Writes the record again and again, from the version that is there. */
const keepWriting = (store: KvStore) => {
  const failures: unknown[] = [];
  let stopped = false;
  const write = async (): Promise<void> => {
    const expectedVersion = (await store.get('uploads', 'u1'))?.version ?? 0;
    await store.commit({ ...change, expectedVersion });
  };
  const done = (async () => {
    while (!stopped) {
      await write().catch((error: unknown) => failures.push(error));
      // What is refused before it is sent must not keep the connection from hearing of its end.
      await setImmediate();
    }
  })();
  const stop = async () => {
    stopped = true;
    await done;
  };
  return { failures, stop };
};

t.test('commands go to the new master, whether the old one lives or has died', { skip }, async (t) => {
  const watched = await startWatched(t, findRedis() ?? '');
  const { nodes, sentinel, password, masterPort, failOver } = watched;
  // Nobody listens at the address itself.
  const address = { url: 'redis://127.0.0.1:1', sentinels: [sentinel], sentinelPassword: password };
  const store = await redisKvStore(address);
  const events = redisEvents(address);
  let wakes = 0;
  await events.subscribe('jobs', 'j1', () => {
    wakes += 1;
  });
  const delivered: string[] = [];
  const queue = store.queue();
  queue.consume(
    async ({ id }) => {
      delivered.push(id);
      return 'done';
    },
    { concurrency: 1 },
  );
  const writer = keepWriting(store);
  t.teardown(async () => {
    await writer.stop();
    await events.close();
    await store.close();
  });

  /** Writes, entries and wake-ups arrive, by way of that master. */
  const works = async (id: string, { url }: RedisProcess): Promise<void> => {
    const master = new Redis(url);
    const { version } = (await store.get('uploads', 'u1').catch(() => undefined)) ?? { version: 0 };
    await until(async () => Number(await master.hget('sluice:uploads:u1', 'version')) > version);
    master.disconnect();
    await until(() => queue.enqueue({ id, jobId: 'j1' }).then(always, never));
    await until(() => delivered.includes(id));
    const before = wakes;
    await until(async () => {
      await events.notify('jobs', 'j1').catch(never);
      return wakes > before;
    });
  };
  const masterNow = async (): Promise<RedisProcess> => {
    const port = await masterPort();
    return nodes.find((node) => node.port === port)!;
  };
  const isReplaced = async (old: RedisProcess): Promise<RedisProcess> => {
    await until(async () => (await masterPort()) !== old.port);
    return masterNow();
  };
  const first = await masterNow();
  await works('e1', first);
  await store.commit({ ...change, id: 'kept', expectedVersion: 0 });
  await replicated(first, 3);

  // Nobody can tell the old master that it is one no longer: only that its replicas have left it.
  await allow(first, '-replicaof', '-slaveof');
  await failOver();
  const second = await isReplaced(first);
  await works('e2', second);
  await allow(first, '+@all');
  t.same(await store.get('uploads', 'kept'), { value: change.value, version: 1 });

  await replicated(second, 2);
  const { failures } = writer;
  const before = failures.length;
  second.process.kill('SIGKILL');
  await works('e3', await isReplaced(second));
  t.same(await store.get('uploads', 'kept'), { value: change.value, version: 1 });
  t.ok(failures.length > before, 'those in between were told');
  t.ok(failures.every((error) => (error as { code?: string }).code === 'UNAVAILABLE'));
});

const always = () => true;
const never = () => false;

const allow = async ({ url }: RedisProcess, ...rights: string[]): Promise<void> => {
  const client = new Redis(url);
  await client.call('ACL', 'SETUSER', 'default', ...rights);
  client.disconnect();
};

/** Until so many replicas of that master have all that was written so far. */
const replicated = async ({ url }: RedisProcess, replicas: number): Promise<void> => {
  const client = new Redis(url);
  await until(async () => {
    await client.set('marker', 'x');
    return (await client.wait(replicas, 1000)) >= replicas;
  });
  client.disconnect();
};
