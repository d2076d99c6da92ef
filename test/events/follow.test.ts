import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { UploadRecord } from '../../src/domain/upload.ts';
import { systemClock } from '../../src/drivers/clock.ts';
import { localEvents } from '../../src/drivers/events/local/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { type Batch, createFollow } from '../../src/events/follow.ts';
import { createPublish } from '../../src/events/publish.ts';
import type { Entry } from '../../src/ports/kv-store.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const record: UploadRecord = {
  id: 'u',
  storageId: 'default',
  key: 'uploads/u',
  offset: 0,
  size: 10,
  status: 'created',
  fileName: 'a',
  type: 'text/plain',
  custom: {},
  seq: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

const setUp = async (t: Test) => {
  const path = join(await temporaryDirectory(t), 'kv.db');
  const kvStore = sqliteKvStore({ path, durability: 'process', clock: systemClock });
  t.teardown(() => kvStore.close());
  const eventBroadcaster = localEvents();
  const deps = {
    kvStore,
    eventBroadcaster,
    clock: systemClock,
    onNotifyError: (error: unknown) => void t.fail(String(error)),
  };
  const publish = createPublish(deps);
  const follow = createFollow(deps);
  const started = await publish({
    topic: 'uploads',
    value: record,
    expectedVersion: 0,
    events: [{ type: 'upload_started' }],
  });
  if (started === undefined) throw new Error('not written');
  const progress = async (base: Entry<UploadRecord>, offset: number): Promise<Entry<UploadRecord>> => {
    const value = { ...base.value, offset, status: 'uploading' as const };
    const next = await publish({ topic: 'uploads', value, expectedVersion: base.version, progress: true });
    if (next === undefined) throw new Error('not written');
    return next;
  };
  const complete = async (base: Entry<UploadRecord>) => {
    const value = { ...base.value, offset: 10, status: 'completed' as const };
    const events = [{ type: 'upload_complete' as const }];
    await publish({ topic: 'uploads', value, expectedVersion: base.version, progress: true, events });
  };
  return { kvStore, publish, follow, started, progress, complete };
};

const steps = ({ steps: list }: Batch<'uploads'>) => list.map(({ type, seq }) => `${type} ${seq}`);
const open = (signal = new AbortController().signal, since = 0) => ({ since, signal });

t.test('a write that lost tells nothing', async (t) => {
  const { publish, started, kvStore } = await setUp(t);
  const events = [{ type: 'upload_complete' as const }];
  const lost = await publish({ topic: 'uploads', value: started.value, expectedVersion: 7, events });
  t.equal(lost, undefined);
  t.equal((await kvStore.events('uploads', 'u', 0)).length, 1);
});

t.test('progress has a number, but only the latest is kept, in its place', async (t) => {
  const { follow, started, progress, complete } = await setUp(t);
  await complete(await progress(await progress(started, 3), 6));
  const batches = await Array.fromAsync(follow('uploads', 'u', open()));
  t.strictSame(batches.map(steps), [['upload_started 1', 'progress 4', 'upload_complete 5']]);
});

t.test('a reader hears live what it has not heard yet, until the end', async (t) => {
  const { follow, started, progress, complete } = await setUp(t);
  const reader = follow('uploads', 'u', open());
  t.strictSame(steps((await reader.next()).value as Batch<'uploads'>), ['upload_started 1']);
  const next = reader.next();
  const half = await progress(started, 5);
  t.strictSame(steps((await next).value as Batch<'uploads'>), ['progress 2']);
  await complete(half);
  t.strictSame(steps((await reader.next()).value as Batch<'uploads'>), ['progress 3', 'upload_complete 4']);
  t.equal((await reader.next()).done, true);
});

t.test('a reader that takes its time gets fewer steps, but every event', async (t) => {
  const { follow, started, progress, complete } = await setUp(t);
  const reader = follow('uploads', 'u', open());
  await reader.next();
  let entry = started;
  for (let offset = 1; offset < 10; offset++) entry = await progress(entry, offset);
  await complete(entry);
  t.strictSame(steps((await reader.next()).value as Batch<'uploads'>), ['progress 11', 'upload_complete 12']);
});

t.test('since leaves out what was heard before', async (t) => {
  const { follow, started, complete } = await setUp(t);
  await complete(started);
  const [batch] = await Array.fromAsync(follow('uploads', 'u', open(undefined, 2)));
  t.strictSame(batch && steps(batch), ['upload_complete 3']);
  const [nothing] = await Array.fromAsync(follow('uploads', 'u', open(undefined, 3)));
  t.strictSame(nothing && steps(nothing), [], 'the snapshot only');
});

t.test('when the log is gone the end is made from the record', async (t) => {
  const { follow, kvStore } = await setUp(t);
  await kvStore.remove('uploads', 'u');
  const error = { code: 'CANCELLED' as const, message: 'deleted' };
  const value = { ...record, status: 'cancelled' as const, error, seq: 9 };
  await kvStore.commit({ collection: 'uploads', id: 'u', value, expectedVersion: 0 });
  const [batch] = await Array.fromAsync(follow('uploads', 'u', open()));
  t.match(batch?.steps, [{ type: 'upload_error', seq: 9, error }]);
});

t.test('nothing of that id ends at once; the signal ends a reader that waits', async (t) => {
  const { follow } = await setUp(t);
  t.strictSame(await Array.fromAsync(follow('jobs', 'none', open())), []);
  const controller = new AbortController();
  const reader = follow('uploads', 'u', open(controller.signal));
  await reader.next();
  const end = reader.next();
  controller.abort();
  t.equal((await end).done, true);
});
