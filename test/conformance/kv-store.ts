/** What every key-value store does, whatever it is made of. */
import t from 'tap';
import type { KvStore } from '../../src/ports/kv-store.ts';
import type { Make } from '../support/fixture.ts';
import { sampleEvent, sampleJob, sampleUpload } from '../support/sample-records.ts';
import { type Case, counters } from './kv-store-counters.ts';
import { jobs } from './kv-store-jobs.ts';

/** Runs the suite; `name` is shown in its titles. */
export const testKvStore = (name: string, make: Make<KvStore>): void => {
  const test: Case = (title, run) => {
    void t.test(`${name}: ${title}`, async (t) => {
      const fixture = await make();
      t.teardown(fixture.teardown);
      await run(t, fixture.driver, fixture);
    });
  };
  keeping(test);
  conditions(test);
  logs(test);
  deadlines(test);
  counters(test);
  jobs(test);
  removing(test);
  living(test);
};

const keeping = (test: Case): void => {
  test('a record comes back as it was written, with its version', async (t, store) => {
    const value = sampleUpload({
      size: 5_368_709_120,
      custom: { 'ключ "1"': 'ünï\u{1F600}\0\n', list: [1, -2.5, null, true, { deep: [] }], empty: '' },
      sink: { parts: [{ part: 1, etag: 'a' }] },
    });
    t.equal(await store.commit({ collection: 'uploads', id: 'u1', value, expectedVersion: 0 }), 1);
    t.same(await store.get('uploads', 'u1'), { value, version: 1 });
    t.equal('checksum' in ((await store.get('uploads', 'u1'))?.value ?? {}), false, 'nothing is added to it');
  });

  test('what is not there is undefined', async (t, store) => {
    t.equal(await store.get('uploads', 'none'), undefined);
    t.same(await store.events('uploads', 'none', 0), []);
  });

  test('collections do not know of each other', async (t, store) => {
    await store.commit({ collection: 'uploads', id: 'same', value: sampleUpload(), expectedVersion: 0 });
    t.equal(await store.get('jobs', 'same'), undefined);
    const value = sampleJob({ id: 'same' });
    t.equal(await store.commit({ collection: 'jobs', id: 'same', value, expectedVersion: 0 }), 1);
    t.same((await store.get('jobs', 'same'))?.value, value);
    t.same((await store.get('uploads', 'same'))?.value, sampleUpload());
    const flow = { flowId: 'f', name: 'F', nodes: {}, edges: [] };
    await store.commit({ collection: 'definitions', id: 'hash', value: flow, expectedVersion: 0 });
    t.same((await store.get('definitions', 'hash'))?.value, flow);
    const claim = { jobId: 'same', request: 'hash', until: 5, expiresAt: 9 };
    await store.commit({ collection: 'claims', id: 'same', value: claim, expectedVersion: 0 });
    t.same((await store.get('claims', 'same'))?.value, claim);
    const places = { holders: { 'same-1': 5 } };
    await store.commit({ collection: 'places', id: 'same', value: places, expectedVersion: 0 });
    t.same((await store.get('places', 'same'))?.value, places);
  });

  test('a large record is kept whole', async (t, store) => {
    const value = sampleUpload({ custom: { text: 'x'.repeat(700_000) } });
    await store.commit({ collection: 'uploads', id: 'u1', value, expectedVersion: 0 });
    t.same((await store.get('uploads', 'u1'))?.value, value);
  });

  test('a value that the caller changes later does not change in the store', async (t, store) => {
    const custom = { note: 'before' };
    await store.commit({ collection: 'uploads', id: 'u1', value: sampleUpload({ custom }), expectedVersion: 0 });
    custom.note = 'after';
    const read = await store.get('uploads', 'u1');
    t.same(read?.value.custom, { note: 'before' });
    Object.assign(read?.value.custom ?? {}, { note: 'after' });
    t.same((await store.get('uploads', 'u1'))?.value.custom, { note: 'before' });
  });
};

const conditions = (test: Case): void => {
  test('each write raises the version by one', async (t, store) => {
    for (const expectedVersion of [0, 1, 2, 3]) {
      const value = sampleUpload({ offset: expectedVersion * 10 });
      const version = await store.commit({ collection: 'uploads', id: 'u1', value, expectedVersion });
      t.equal(version, expectedVersion + 1);
    }
    const entry = await store.get('uploads', 'u1');
    t.match(entry, { value: { offset: 30 }, version: 4 });
  });

  test('a write at any other version changes nothing: not the record, not the log, not the deadline', async (t, store) => {
    const value = sampleUpload();
    const event = sampleEvent(1);
    await store.commit({ collection: 'uploads', id: 'u1', value, expectedVersion: 0, events: [event], dueAt: 100 });
    await store.commit({ collection: 'uploads', id: 'u1', value, expectedVersion: 1, dueAt: 100 });
    const late = { value: sampleUpload({ offset: 9 }), events: [sampleEvent(2)], dueAt: 50 };
    for (const expectedVersion of [0, 1, 3]) {
      t.equal(await store.commit({ collection: 'uploads', id: 'u1', expectedVersion, ...late }), undefined);
    }
    t.same(await store.get('uploads', 'u1'), { value, version: 2 });
    t.same(await store.events('uploads', 'u1', 0), [event]);
    t.same(await store.due('uploads', 99, 10), []);
    t.same(await store.due('uploads', 100, 10), ['u1']);
  });

  test('a write to a record that is not there makes none', async (t, store) => {
    const change = { value: sampleUpload(), expectedVersion: 1, events: [sampleEvent(1)], dueAt: 1 };
    t.equal(await store.commit({ collection: 'uploads', id: 'u1', ...change }), undefined);
    t.equal(await store.get('uploads', 'u1'), undefined);
    t.same(await store.events('uploads', 'u1', 0), []);
    t.same(await store.due('uploads', 10, 10), []);
  });

  test('of writers that read the same version one wins', async (t, store, { peer = store }) => {
    for (const expectedVersion of [0, 1]) {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, offset) =>
          (offset % 2 === 0 ? store : peer).commit({
            collection: 'uploads',
            id: 'u1',
            value: sampleUpload({ offset }),
            expectedVersion,
            events: [sampleEvent(expectedVersion + 1)],
          }),
        ),
      );
      const winners = results.flatMap((version, index) => (version === undefined ? [] : [index]));
      t.equal(winners.length, 1);
      t.match(await peer.get('uploads', 'u1'), { value: { offset: winners[0] }, version: expectedVersion + 1 });
    }
    t.equal((await store.events('uploads', 'u1', 0)).length, 2);
  });
};

const logs = (test: Case): void => {
  test('the log of a record is read after a number, oldest first', async (t, store) => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    let version = 0;
    for (const seqs of [numbers.slice(0, 1), numbers.slice(1, 9), [], numbers.slice(9)]) {
      const change = { value: sampleUpload(), expectedVersion: version, events: seqs.map(sampleEvent) };
      version = (await store.commit({ collection: 'uploads', id: 'u1', ...change })) ?? -1;
    }
    t.same(await store.events('uploads', 'u1', 0), numbers.map(sampleEvent));
    t.same(await store.events('uploads', 'u1', 8), [9, 10, 11, 12].map(sampleEvent));
    t.same(await store.events('uploads', 'u1', 12), []);
    t.same(await store.events('uploads', 'u1', 99), []);
  });

  test('numbers may leave gaps', async (t, store) => {
    const events = [sampleEvent(2), sampleEvent(40)];
    await store.commit({ collection: 'uploads', id: 'u1', value: sampleUpload(), expectedVersion: 0, events });
    t.same(await store.events('uploads', 'u1', 1), events);
    t.same(await store.events('uploads', 'u1', 3), events.slice(1));
  });

  test('an event keeps all its fields', async (t, store) => {
    const error = { code: 'INVALID_INPUT', message: 'Zerstört: ü', nodeId: 'n' } as const;
    const event = { ...sampleEvent(1), type: 'node_failed', nodeId: 'n', error } as const;
    await store.commit({ collection: 'jobs', id: 'j1', value: sampleJob(), expectedVersion: 0, events: [event] });
    t.same(await store.events('jobs', 'j1', 0), [event]);
  });

  test('each record has its own log', async (t, store) => {
    const change = { value: sampleUpload(), expectedVersion: 0 };
    await store.commit({ collection: 'uploads', id: 'u1', ...change, events: [sampleEvent(1)] });
    await store.commit({ collection: 'uploads', id: 'u2', ...change, events: [sampleEvent(1), sampleEvent(2)] });
    const event = { ...sampleEvent(3), type: 'flow_started' } as const;
    await store.commit({ collection: 'jobs', id: 'u1', value: sampleJob(), expectedVersion: 0, events: [event] });
    t.same(await store.events('uploads', 'u1', 0), [sampleEvent(1)]);
    t.same(await store.events('uploads', 'u2', 0), [sampleEvent(1), sampleEvent(2)]);
    t.same(await store.events('jobs', 'u1', 0), [event]);
  });
};

const deadlines = (test: Case): void => {
  const now = 1_795_000_000_000;
  const add = (store: KvStore, id: string, dueAt?: number) => {
    const deadline = dueAt === undefined ? {} : { dueAt };
    return store.commit({ collection: 'uploads', id, value: sampleUpload({ id }), expectedVersion: 0, ...deadline });
  };

  test('records are due at their deadline, the earliest first, and no more than asked for', async (t, store) => {
    for (const [id, dueAt] of [
      ['c', 30],
      ['a', 10],
      ['d', 40],
      ['b', 20],
    ] as const)
      await add(store, id, now + dueAt);
    await add(store, 'never');
    t.same(await store.due('uploads', now + 9, 10), []);
    t.same(await store.due('uploads', now + 10, 10), ['a']);
    t.same(await store.due('uploads', now + 39, 10), ['a', 'b', 'c']);
    t.same(await store.due('uploads', now + 1_000_000, 2), ['a', 'b']);
    t.same(await store.due('jobs', now + 1_000_000, 10), []);
  });

  test('every change sets the deadline anew, and one without clears it', async (t, store) => {
    await add(store, 'u1', now);
    const change = { collection: 'uploads', id: 'u1', value: sampleUpload() } as const;
    await store.commit({ ...change, expectedVersion: 1, dueAt: now + 60 });
    t.same(await store.due('uploads', now + 59, 10), []);
    t.same(await store.due('uploads', now + 60, 10), ['u1']);
    await store.commit({ ...change, expectedVersion: 2 });
    t.same(await store.due('uploads', now + 1_000_000, 10), []);
  });

  test('asking does not take a record off the index', async (t, store) => {
    await add(store, 'u1', now);
    t.same(await store.due('uploads', now, 10), ['u1']);
    t.same(await store.due('uploads', now, 10), ['u1']);
  });
};

const removing = (test: Case): void => {
  test('a removed record takes its log and its deadline with it', async (t, store) => {
    const change = { value: sampleUpload(), events: [sampleEvent(1)], dueAt: 1 };
    await store.commit({ collection: 'uploads', id: 'u1', ...change, expectedVersion: 0 });
    await store.commit({ collection: 'uploads', id: 'u2', ...change, expectedVersion: 0 });
    t.equal(await store.remove('uploads', 'u1'), true);
    t.equal(await store.get('uploads', 'u1'), undefined);
    t.same(await store.events('uploads', 'u1', 0), []);
    t.same(await store.due('uploads', 10, 10), ['u2']);
    t.same(await store.events('uploads', 'u2', 0), [sampleEvent(1)]);
  });

  test('removing what is not there is false', async (t, store) => {
    t.equal(await store.remove('uploads', 'u1'), false);
    await store.commit({ collection: 'uploads', id: 'u1', value: sampleUpload(), expectedVersion: 0 });
    t.equal(await store.remove('jobs', 'u1'), false);
    t.equal(await store.remove('uploads', 'u1'), true);
    t.equal(await store.remove('uploads', 'u1'), false);
  });

  test('a record that has been written since it was read is not removed at the version that was read', async (t, store) => {
    const change = { collection: 'uploads', id: 'u1', value: sampleUpload(), dueAt: 1 } as const;
    await store.commit({ ...change, expectedVersion: 0, events: [sampleEvent(1)] });
    await store.commit({ ...change, expectedVersion: 1 });
    for (const version of [0, 1, 3]) t.equal(await store.remove('uploads', 'u1', version), false);
    t.same(await store.get('uploads', 'u1'), { value: change.value, version: 2 });
    t.same(await store.events('uploads', 'u1', 0), [sampleEvent(1)]);
    t.same(await store.due('uploads', 1, 10), ['u1']);
    t.equal(await store.remove('uploads', 'u1', 2), true);
    t.equal(await store.get('uploads', 'u1'), undefined);
    t.same(await store.events('uploads', 'u1', 0), []);
    t.same(await store.due('uploads', 1, 10), []);
  });

  test('a writer that read a record before its removal does not bring it back', async (t, store) => {
    const change = { collection: 'uploads', id: 'u1', value: sampleUpload() } as const;
    await store.commit({ ...change, expectedVersion: 0, events: [sampleEvent(1)] });
    await store.remove('uploads', 'u1');
    t.equal(await store.commit({ ...change, expectedVersion: 1 }), undefined);
    t.equal(
      await store.commit({ ...change, expectedVersion: 0, events: [sampleEvent(1)] }),
      1,
      'but it may begin anew',
    );
    t.same(await store.events('uploads', 'u1', 0), [sampleEvent(1)]);
  });
};

const living = (test: Case): void => {
  test('what was committed can be flushed, by many at once', async (t, store) => {
    const commits = Array.from({ length: 30 }, async (_, index) => {
      await store.commit({ collection: 'uploads', id: `u${index}`, value: sampleUpload(), expectedVersion: 0 });
      await store.flush();
    });
    await t.resolves(Promise.all(commits));
    await t.resolves(store.flush(), 'and when there is nothing new');
    t.equal((await store.get('uploads', 'u29'))?.version, 1);
  });

  test('it answers a ping, and its queue does', async (t, store) => {
    await t.resolves(store.ping());
    await t.resolves(store.queue().ping());
  });

  test('a ping says when the store has been closed', async (t, store) => {
    await store.close();
    await t.rejects(store.ping());
  });

  test('another replica reads what this one wrote', async (t, store, { peer = store }) => {
    const change = { collection: 'uploads', id: 'u1', value: sampleUpload() } as const;
    await store.commit({ ...change, expectedVersion: 0, events: [sampleEvent(1)], dueAt: 5 });
    t.same(await peer.get('uploads', 'u1'), { value: change.value, version: 1 });
    t.same(await peer.events('uploads', 'u1', 0), [sampleEvent(1)]);
    t.same(await peer.due('uploads', 5, 1), ['u1']);
  });
};
