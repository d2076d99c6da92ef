/** Owners over all replicas: the port's suite, then what becomes of an owner that says nothing any more. */
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { redisKvStore } from '../../../../src/drivers/kv/redis/index.ts';
import { testOwners } from '../../../conformance/owners.ts';
import { startFaultProxy } from '../../../faults/proxy.ts';
import { clean, freshAddress, skip } from '../../../support/redis.ts';
import { sampleUpload } from '../../../support/sample-records.ts';
import { quiet, until } from '../../../support/wait.ts';

const openPair = async () => {
  const address = freshAddress();
  const [store, peer] = await Promise.all([redisKvStore(address), redisKvStore(address)]);
  const teardown = async () => {
    await Promise.all([store.close(), peer.close()]);
    await clean(address);
  };
  return { address, store, peer, teardown };
};

const pairOf = async (t: Test) => {
  const { teardown, ...pair } = await openPair();
  t.teardown(teardown);
  return pair;
};

if (skip) t.comment(skip);
else {
  testOwners('redis', async () => {
    const { store, peer, teardown } = await openPair();
    return { driver: store.owners(), peer: peer.owners(), teardown };
  });
}

const upload = { collection: 'uploads', id: 'a', value: sampleUpload({ id: 'a' }) } as const;

void t.test('an owner of another replica is displaced in less than half a second', { skip }, async (t) => {
  const { store, peer } = await pairOf(t);
  await quiet();
  for (let round = 0; round < 5; round += 1) {
    const owner = await store.owners().take('a');
    owner?.onStop(() => owner.release());
    const begun = performance.now();
    t.equal(await peer.owners().free('a', { ask: 'now', waitMs: 5000 }), true);
    const taken = await peer.owners().take('a');
    t.ok(performance.now() - begun < 500, `after ${Math.round(performance.now() - begun)} ms`);
    taken?.release();
  }
});

void t.test('who has waited on another replica in vain is waited for no longer', { skip }, async (t) => {
  const { store, peer } = await pairOf(t);
  const owner = await store.owners().take('a');
  const freed = peer.owners().free('a', { ask: 'wait', waitMs: 400 });
  await until(() => owner?.isAwaited() === true);
  t.equal(await freed, false);
  await quiet();
  t.equal(owner?.isAwaited(), false);
  t.equal(owner?.stopped, undefined);
});

void t.test(
  'a dead owner holds an upload for some seconds, and commits nothing when it comes back',
  { skip },
  async (t) => {
    const { store, peer } = await pairOf(t);
    await store.commit({ ...upload, expectedVersion: 0 });
    await store.owners().take('a');
    const version = (await store.get('uploads', 'a'))?.version ?? 0;
    // Nothing renews its lease any more.
    await store.close();
    const begun = performance.now();
    t.equal(await peer.owners().free('a', { ask: 'wait', waitMs: 5000 }), true);
    const owner = await peer.owners().take('a');
    const waited = performance.now() - begun;
    t.ok(owner !== undefined && waited > 1000 && waited < 3500, `after ${Math.round(waited)} ms`);
    t.equal(await peer.commit({ ...upload, expectedVersion: version }), undefined, 'at the version of the dead owner');
    t.equal(await peer.commit({ ...upload, expectedVersion: version + 1 }), version + 2);
  },
);

void t.test('who only asks for what a dead owner holds is told nothing that it could change', { skip }, async (t) => {
  const { store, peer } = await pairOf(t);
  await store.commit({ ...upload, expectedVersion: 0 });
  await store.owners().take('a');
  await store.close();
  t.equal(await peer.owners().free('a', { ask: 'now', waitMs: 5000 }), true);
  t.equal((await peer.get('uploads', 'a'))?.version, 2);
  t.equal(await peer.commit({ ...upload, expectedVersion: 1 }), undefined, 'at the version of the dead owner');
});

void t.test(
  'an owner whose commit was not answered goes without a word: the commit may yet come',
  { skip },
  async (t) => {
    const { address, peer } = await pairOf(t);
    const proxy = await startFaultProxy(t, address.url);
    const store = await redisKvStore({ ...address, url: proxy.url });
    t.teardown(() => store.close());
    await store.commit({ ...upload, expectedVersion: 0 });
    const owner = await store.owners().take('a');
    proxy.set({ after: 0, by: 'silence' });
    await t.rejects(store.commit({ ...upload, expectedVersion: 1 }), { code: 'UNAVAILABLE' });
    const freed = peer.owners().free('a', { ask: 'now', waitMs: 5000 });
    owner?.release();
    t.equal(await freed, true);
    t.equal((await peer.get('uploads', 'a'))?.version, 2);
    proxy.set({});
    await until(() =>
      store.ping().then(
        () => true,
        () => false,
      ),
    );
    t.equal((await peer.get('uploads', 'a'))?.version, 2, 'what was on its way comes too late');
    t.ok(await store.owners().take('a'));
  },
);

void t.test(
  'a lease is renewed for as long as its owner lives, and one who has let go raises no version',
  { skip },
  async (t) => {
    const { store, peer } = await pairOf(t);
    await store.commit({ ...upload, expectedVersion: 0 });
    const owner = await store.owners().take('a');
    t.equal(await peer.owners().free('a', { ask: 'wait', waitMs: 4500 }), false, 'longer than a lease');
    t.equal(await peer.owners().take('a'), undefined);
    owner?.release();
    t.equal(await peer.owners().free('a', { ask: 'wait', waitMs: 1000 }), true);
    t.ok(await peer.owners().take('a'));
    t.equal((await peer.get('uploads', 'a'))?.version, 1);
  },
);

void t.test('an owner that lost its upload is told with the next renewal', { skip }, async (t) => {
  const { address, store } = await pairOf(t);
  const owner = await store.owners().take('a');
  const client = new Redis(address.url);
  await client.hset(`${address.prefix}:owner:a`, 'token', 'somebody else');
  await until(() => owner?.stopped === 'displaced', 2500);
  owner?.release();
  await quiet();
  t.equal(await client.exists(`${address.prefix}:owner:a`), 1, 'and takes it from nobody');
  client.disconnect();
});

void t.test('a message that was lost costs a second, not the upload', { skip }, async (t) => {
  const { address, store, peer } = await pairOf(t);
  await quiet();
  const owner = await store.owners().take('a');
  owner?.onStop(() => owner.release());
  const client = new Redis(address.url);
  const killed = setInterval(() => void client.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {}), 20);
  const begun = performance.now();
  t.equal(await peer.owners().free('a', { ask: 'now', waitMs: 5000 }), true);
  clearInterval(killed);
  t.ok(performance.now() - begun < 4200, `after ${Math.round(performance.now() - begun)} ms`);
  client.disconnect();
});
