/** The store over Redis: the port's suite, then what happens when Redis does not answer. */
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { redisKvStore } from '../../../../src/drivers/kv/redis/index.ts';
import type { KvStore } from '../../../../src/ports/kv-store.ts';
import { testKvStore } from '../../../conformance/kv-store.ts';
import { startFaultProxy } from '../../../faults/proxy.ts';
import { findRedis, startRedis } from '../../../services/redis.ts';
import { clean, freshAddress, skip } from '../../../support/redis.ts';
import { sampleEvent, sampleJob, sampleUpload } from '../../../support/sample-records.ts';
import { until } from '../../../support/wait.ts';

const create = { collection: 'uploads', id: 'u1', value: sampleUpload(), expectedVersion: 0 } as const;

const openStore = async (t: Test): Promise<{ store: KvStore; address: ReturnType<typeof freshAddress> }> => {
  const address = freshAddress();
  const store = await redisKvStore(address);
  t.teardown(async () => {
    await store.close();
    await clean(address);
  });
  return { store, address };
};

if (skip) t.comment(skip);
else {
  testKvStore('redis', async () => {
    const address = freshAddress();
    const [driver, peer] = await Promise.all([redisKvStore(address), redisKvStore(address)]);
    const teardown = async () => {
      await Promise.all([driver.close(), peer.close()]);
      await clean(address);
    };
    return { driver, peer, teardown };
  });
}

void t.test('more bytes than a number holds exactly are counted all the same', { skip }, async (t) => {
  const { store } = await openStore(t);
  const delta = { openUploads: 1, storedBytes: Number.MAX_SAFE_INTEGER };
  for (const id of ['u1', 'u2', 'u3']) {
    await store.commit({ ...create, id, usage: { clientId: 'ann', delta, quota: {} } });
  }
  t.equal((await store.usage('ann')).storedBytes, 3 * Number.MAX_SAFE_INTEGER);
  const back = { openUploads: -1, storedBytes: -Number.MAX_SAFE_INTEGER };
  for (const id of ['u1', 'u2', 'u3']) {
    await store.commit({ ...create, id, expectedVersion: 1, usage: { clientId: 'ann', delta: back, quota: {} } });
  }
  t.same(await store.usage('ann'), { openUploads: 0, storedBytes: 0 });
});

void t.test(
  'an event that does not follow its log is refused, and nothing of its change is written',
  { skip },
  async (t) => {
    const { store } = await openStore(t);
    await store.commit({ ...create, events: [sampleEvent(5)] });
    const usage = { clientId: 'ann', delta: { openUploads: 1, storedBytes: 1 }, quota: {} };
    const late = { ...create, value: sampleUpload({ offset: 9 }), expectedVersion: 1, dueAt: 1, usage };
    await t.rejects(store.commit({ ...late, events: [sampleEvent(5)] }), /do not follow/);
    await t.rejects(store.commit({ ...late, events: [sampleEvent(7), sampleEvent(6)] }), /not in order/);
    t.same(await store.get('uploads', 'u1'), { value: create.value, version: 1 });
    t.same(await store.due('uploads', 10, 10), []);
    t.same(await store.usage('ann'), { openUploads: 0, storedBytes: 0 });
    t.same(await store.events('uploads', 'u1', 0), [sampleEvent(5)]);
  },
);

void t.test('clients and flows are not mistaken for each other, whatever their ids are', { skip }, async (t) => {
  const { store } = await openStore(t);
  const ids = ['a', 'a:b', 'a":"b', '"', '\ud800', '\udfff', 'pending'];
  for (const [index, clientId] of ids.entries()) {
    const value = sampleJob({ id: `j${index}`, clientId, flowId: clientId });
    await store.commit({ collection: 'jobs', id: `j${index}`, value, expectedVersion: 0 });
  }
  for (const [index, clientId] of ids.entries()) {
    t.same(await store.listJobs({ clientId, limit: 9 }), [`j${index}`]);
    t.same(await store.listJobs({ clientId, flowId: clientId, limit: 9 }), [`j${index}`]);
  }
});

void t.test('nothing is left of what was removed', { skip }, async (t) => {
  const { store, address } = await openStore(t);
  const job = { collection: 'jobs', id: 'j1', value: sampleJob(), expectedVersion: 0 } as const;
  await store.commit({ ...job, events: [sampleEvent(1)], dueAt: 5 });
  await store.remove('jobs', 'j1');
  const client = new Redis(address.url);
  t.same(await client.keys(`${address.prefix}:*`), []);
  client.disconnect();
});

void t.test(
  'a Redis that does not answer fails a command within two seconds, and is used again when it does',
  { skip },
  async (t) => {
    const program = findRedis() ?? '';
    const server = await startRedis(program);
    t.teardown(server.stop);
    const outages: unknown[] = [];
    const store = await redisKvStore({ url: server.url, onError: (error) => outages.push(error) });
    t.teardown(store.close);
    await store.commit(create);
    server.process.kill('SIGSTOP');
    const begun = performance.now();
    const lost = store.commit({ ...create, expectedVersion: 1, value: sampleUpload({ offset: 5 }) });
    await t.rejects(lost, { code: 'UNAVAILABLE', status: 503, retryAfter: 1 });
    t.ok(performance.now() - begun < 2100, `after ${performance.now() - begun} ms`);
    server.process.kill('SIGCONT');
    const entry = await retried(() => store.get('uploads', 'u1'));
    t.ok(entry?.version === 1 || entry?.version === 2, 'it may have been carried out, but once');
  },
);

void t.test('records are there after Redis was killed and started again', { skip }, async (t) => {
  const program = findRedis() ?? '';
  const directory = t.testdir();
  const options = ['--appendfsync', 'always'];
  const first = await startRedis(program, { directory, options });
  t.teardown(first.stop);
  const store = await redisKvStore({ url: first.url });
  t.teardown(store.close);
  await store.commit({ ...create, events: [sampleEvent(1)] });
  await first.stop();
  await t.rejects(store.get('uploads', 'u1'), { code: 'UNAVAILABLE' });
  await t.rejects(store.ping(), { code: 'UNAVAILABLE' });
  const second = await startRedis(program, { directory, options, port: first.port });
  t.teardown(second.stop);
  const up = performance.now();
  t.same(await retried(() => store.get('uploads', 'u1')), { value: create.value, version: 1 });
  t.ok(performance.now() - up < 5000, `after ${performance.now() - up} ms`);
  t.equal(await store.commit({ ...create, expectedVersion: 1, events: [sampleEvent(2)] }), 2);
});

void t.test('a cluster is refused, and what would lose data is told', { skip }, async (t) => {
  const program = findRedis() ?? '';
  const cluster = await startRedis(program, { options: ['--cluster-enabled', 'yes'] });
  t.teardown(cluster.stop);
  await t.rejects(redisKvStore({ url: cluster.url }), /Cluster/);
  const options = ['--appendonly', 'no', '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];
  const forgetful = await startRedis(program, { options });
  t.teardown(forgetful.stop);
  const warnings: string[] = [];
  const store = await redisKvStore({ url: forgetful.url, onWarning: (text) => warnings.push(text) });
  await store.close();
  t.match(warnings, [/appendonly/, /noeviction/]);
});

void t.test(
  'a user who may not look at the settings of the server may use it, but not when it is a cluster',
  { skip },
  async (t) => {
    const program = findRedis() ?? '';
    const user = ['--user', 'ann', 'on', '>secret', '~sluice:*', '&sluice:*', '+@all', '-@dangerous'];
    const told: string[] = [];
    const said = {
      onWarning: (text: string) => told.push(text),
      onDebug: (text: string) => told.push(`debug: ${text}`),
    };
    const entry = { username: 'ann', password: 'secret', ...said };
    const server = await startRedis(program, { options: [...user, '--appendonly', 'no'] });
    t.teardown(server.stop);
    const store = await redisKvStore({ url: server.url, ...entry });
    t.teardown(store.close);
    t.equal(await store.commit(create), 1);
    t.match(told, [/^debug: Redis does not say .*NOPERM/]);
    const cluster = await startRedis(program, { options: [...user, '--cluster-enabled', 'yes'] });
    t.teardown(cluster.stop);
    await t.rejects(redisKvStore({ url: cluster.url, ...entry }), /Cluster/);
  },
);

void t.test('a connection that is lost while the store opens is made again', { skip }, async (t) => {
  const address = freshAddress();
  t.teardown(() => clean(address));
  const proxy = await startFaultProxy(t, address.url);
  // The last answer before the store is open.
  proxy.set({ before: 'subscribe', by: 'rst' });
  const opening = redisKvStore({ ...address, url: proxy.url });
  await until(() => proxy.cuts === 1);
  proxy.set({});
  const store = await opening;
  t.teardown(store.close);
  t.equal(await store.commit(create), 1);
});

void t.test('a password that is wrong is told without it', { skip }, async (t) => {
  const server = await startRedis(findRedis() ?? '', {
    options: ['--user', 'ann', 'on', '>right', '~*', '&*', '+@all'],
  });
  t.teardown(server.stop);
  const url = server.url.replace('//', '//ann:wr0ng-secret@');
  const errors: unknown[] = [];
  const failure = await redisKvStore({ url, onError: (error) => errors.push(error) }).catch((error: unknown) => error);
  t.match(failure, { message: /cannot be reached or entered/ });
  t.ok(errors.length > 0);
  for (const error of [failure, ...errors]) t.notMatch(inspect(error, { depth: 9, showHidden: true }), /wr0ng-secret/);
  const store = await redisKvStore({ url, username: 'ann', password: 'right' });
  t.teardown(store.close);
  t.equal(await store.commit(create), 1);
});

const retried = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries > 20) throw error;
    }
  }
};
