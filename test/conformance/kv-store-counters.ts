/** The part of the suite of key-value stores that is about the counters of clients. */
import type { Test } from 'tap';
import { noUsage, type Quota } from '../../src/domain/quota.ts';
import type { Usage } from '../../src/domain/upload.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import type { Fixture } from '../support/fixture.ts';
import { sampleEvent, sampleUpload } from '../support/sample-records.ts';

export type Case = (title: string, run: (t: Test, store: KvStore, fixture: Fixture<KvStore>) => Promise<void>) => void;

export const counters = (test: Case): void => {
  /** A new upload that counts. */
  const add = (store: KvStore, id: string, delta: Usage, quota: Quota = {}, clientId?: string) =>
    store.commit({
      collection: 'uploads',
      id,
      value: sampleUpload({ id }),
      expectedVersion: 0,
      events: [sampleEvent(1)],
      dueAt: 5,
      usage: { clientId, delta, quota },
    });

  test('a client that nothing was counted for has used nothing', async (t, store) => {
    t.same(await store.usage('ann'), noUsage);
    t.same(await store.usage(undefined), noUsage);
  });

  test('counters follow the writes, each client its own', async (t, store) => {
    await add(store, 'u1', { openUploads: 1, storedBytes: 100 }, {}, 'ann');
    await add(store, 'u2', { openUploads: 1, storedBytes: 5_368_709_120 }, {}, 'ann');
    await add(store, 'u3', { openUploads: 1, storedBytes: 7 });
    const usage = { clientId: 'ann', delta: { openUploads: -1, storedBytes: -60 }, quota: {} };
    const change = { collection: 'uploads', id: 'u1', value: sampleUpload(), expectedVersion: 1 } as const;
    t.equal(await store.commit({ ...change, usage }), 2);
    t.same(await store.usage('ann'), { openUploads: 1, storedBytes: 5_368_709_160 });
    t.same(await store.usage(undefined), { openUploads: 1, storedBytes: 7 }, 'clients without an id are one');
    await store.commit({ ...change, expectedVersion: 2 });
    await store.remove('uploads', 'u1');
    t.same(await store.usage('ann'), { openUploads: 1, storedBytes: 5_368_709_160 }, 'and nothing else changes them');
  });

  test('a write at another version counts nothing', async (t, store) => {
    const delta = { openUploads: 1, storedBytes: 1 };
    await add(store, 'u1', delta);
    t.equal(await add(store, 'u1', delta), undefined);
    t.equal(await add(store, 'u1', delta, { openUploads: 1 }), undefined, 'whether the quota has room or not');
    t.same(await store.usage(undefined), delta);
  });

  test('a write that would pass the quota is refused, and nothing of it is written', async (t, store) => {
    await add(store, 'u1', { openUploads: 1, storedBytes: 60 });
    const refused = add(store, 'u2', { openUploads: 1, storedBytes: 41 }, { openUploads: 2, storedBytes: 100 });
    const details = { limit: 'storedBytes', max: 100, used: 60 };
    await t.rejects(refused, { code: 'QUOTA_EXCEEDED', status: 413, details });
    await t.rejects(add(store, 'u2', { openUploads: 1, storedBytes: 0 }, { openUploads: 1 }), {
      code: 'QUOTA_EXCEEDED',
      status: 403,
      details: { limit: 'openUploads', max: 1, used: 1 },
    });
    t.equal(await store.get('uploads', 'u2'), undefined);
    t.same(await store.events('uploads', 'u2', 0), []);
    t.same(await store.due('uploads', 5, 10), ['u1']);
    t.same(await store.usage(undefined), { openUploads: 1, storedBytes: 60 });
    const fits = await add(store, 'u2', { openUploads: 1, storedBytes: 40 }, { openUploads: 2, storedBytes: 100 });
    t.equal(fits, 1, 'up to the limit there is room');
  });

  test('what does not grow is never refused', async (t, store) => {
    await add(store, 'u1', { openUploads: 2, storedBytes: 100 });
    const quota = { openUploads: 1, storedBytes: 10 };
    t.equal(await add(store, 'u2', { openUploads: -1, storedBytes: 0 }, quota), 1);
    t.equal(await add(store, 'u3', { openUploads: 0, storedBytes: -1 }, quota), 1);
    t.same(await store.usage(undefined), { openUploads: 1, storedBytes: 99 });
  });

  test('of writers at the limit exactly as many win as there is room for', async (t, store, { peer = store }) => {
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        add(index % 2 === 0 ? store : peer, `u${index}`, { openUploads: 1, storedBytes: 10 }, { openUploads: 7 }),
      ),
    );
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 7);
    t.same(await store.usage(undefined), { openUploads: 7, storedBytes: 70 });
    t.equal((await peer.due('uploads', 5, 100)).length, 7);
  });
};
