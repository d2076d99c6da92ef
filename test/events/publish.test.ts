import t from 'tap';
import type { LoggedEvent } from '../../src/domain/event.ts';
import { createPublish } from '../../src/events/publish.ts';
import type { EventBroadcaster } from '../../src/ports/event-broadcaster.ts';
import type { Change, Collection, KvStore } from '../../src/ports/kv-store.ts';
import { sampleUpload } from '../support/sample-records.ts';

const now = Date.parse('2026-11-20T12:00:00.000Z');

/** `version` is what the store says of every write. */
const setUp = (version: number | undefined, notify: EventBroadcaster['notify'] = async () => {}) => {
  const changes: Change<Collection>[] = [];
  const notified: string[] = [];
  const errors: unknown[] = [];
  const kvStore = {
    commit: async (change: Change<Collection>) => {
      changes.push(change);
      return version;
    },
  } as unknown as KvStore;
  const eventBroadcaster = {
    notify: (topic, id) => {
      notified.push(`${topic} ${id}`);
      return notify(topic, id);
    },
  } as EventBroadcaster;
  const clock = { now: () => now, newId: () => 'id' };
  const onNotifyError = (error: unknown) => void errors.push(error);
  const publish = createPublish({ kvStore, eventBroadcaster, clock, onNotifyError });
  return { publish, changes, notified, errors };
};

const numbersOf = (events: readonly LoggedEvent[] = []) => events.map(({ type, seq }) => `${seq} ${type}`);

t.test('events are numbered on from the record, and written with it', async (t) => {
  const { publish, changes, notified } = setUp(4);
  const error = { code: 'CANCELLED', message: 'x' } as const;
  const usage = { clientId: 'ann', delta: { openUploads: -1, storedBytes: 0 }, quota: {} };
  const entry = await publish({
    topic: 'uploads',
    value: sampleUpload({ seq: 7 }),
    expectedVersion: 3,
    events: [{ type: 'upload_complete' }, { type: 'upload_error', error }],
    dueAt: 5,
    usage,
  });
  t.match(entry, { version: 4, value: { seq: 9, updatedAt: new Date(now).toISOString() } });
  t.notOk('progressed' in (entry?.value ?? {}));
  t.equal(changes.length, 1);
  t.match(changes[0], {
    collection: 'uploads',
    id: 'upload-1',
    expectedVersion: 3,
    dueAt: 5,
    value: { seq: 9 },
    usage,
  });
  t.strictSame(numbersOf(changes[0]?.events), ['8 upload_complete', '9 upload_error']);
  t.match(changes[0]?.events?.[1], { error, timestamp: new Date(now).toISOString() });
  t.strictSame(notified, ['uploads upload-1']);
});

t.test('progress has the number before the events, and stands in the record only', async (t) => {
  const { publish, changes } = setUp(2);
  const value = sampleUpload({ seq: 1 });
  await publish({ topic: 'uploads', value, expectedVersion: 1, progress: true, events: [{ type: 'upload_complete' }] });
  t.match(changes[0]?.value, { seq: 3, progressed: { seq: 2, at: new Date(now).toISOString() } });
  t.strictSame(numbersOf(changes[0]?.events), ['3 upload_complete']);
});

t.test('a change that tells nothing wakes nobody', async (t) => {
  const { publish, changes, notified } = setUp(2);
  const entry = await publish({ topic: 'uploads', value: sampleUpload({ seq: 1 }), expectedVersion: 1 });
  t.equal(entry?.value.seq, 1);
  t.strictSame(changes[0]?.events, []);
  for (const key of ['dueAt', 'usage']) t.notOk(key in (changes[0] ?? {}));
  t.strictSame(notified, []);
});

t.test('a change that came too late wakes nobody either', async (t) => {
  const { publish, notified } = setUp(undefined);
  const value = sampleUpload();
  const lost = await publish({ topic: 'uploads', value, expectedVersion: 1, events: [{ type: 'upload_started' }] });
  t.equal(lost, undefined);
  t.strictSame(notified, []);
});

t.test('a wake-up that fails is no error of the change', async (t) => {
  const { publish, errors } = setUp(1, () => Promise.reject(new Error('the bus is gone')));
  const value = sampleUpload();
  const entry = await publish({ topic: 'uploads', value, expectedVersion: 0, events: [{ type: 'upload_started' }] });
  t.equal(entry?.version, 1);
  await new Promise(setImmediate);
  t.match(errors, [{ message: 'the bus is gone' }]);
});
