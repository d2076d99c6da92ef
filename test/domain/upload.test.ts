import { test } from 'tap';
import {
  isFull,
  isPast,
  isSettled,
  lifetimeOf,
  mediaTypeOf,
  mustTellJob,
  tombstoneMs,
  type UploadRecord,
  type UploadStatus,
} from '../../src/domain/upload.ts';

const upload: UploadRecord = {
  id: 'upload',
  storageId: 'default',
  key: 'uploads/upload',
  offset: 0,
  size: 10,
  status: 'created',
  fileName: 'a.png',
  type: 'image/png',
  custom: {},
  createdAt: '2026-11-20T00:00:00.000Z',
  updatedAt: '2026-11-20T00:00:00.000Z',
  seq: 0,
};
const statuses: readonly UploadStatus[] = ['created', 'uploading', 'finalizing', 'completed', 'failed', 'cancelled'];

test('an upload is settled when no more bytes can arrive', async (t) => {
  t.same(
    statuses.filter((status) => isSettled({ ...upload, status })),
    ['completed', 'failed', 'cancelled'],
  );
});

test('it is full at its size, and never while the length is deferred', async (t) => {
  t.notOk(isFull({ ...upload, offset: 9 }));
  t.ok(isFull({ ...upload, offset: 10 }));
  t.ok(isFull({ ...upload, offset: 0, size: 0 }));
  const { size: _, ...deferred } = upload;
  t.notOk(isFull({ ...deferred, offset: 10 }));
});

test('what the bytes show counts more than what was declared', async (t) => {
  t.equal(mediaTypeOf(upload), 'image/png');
  t.equal(mediaTypeOf({ ...upload, detectedType: 'image/jpeg' }), 'image/jpeg');
});

test('a job is to be told of settled uploads that it waits for', async (t) => {
  const flow = { flowId: 'x', nodeId: 'photo', jobId: 'job' };
  t.ok(mustTellJob({ ...upload, flow, status: 'completed' }));
  t.notOk(mustTellJob({ ...upload, flow }));
  t.notOk(mustTellJob({ ...upload, status: 'completed' }));
});

test('an upload lasts as long as it may grow, then for good, or as a tombstone', async (t) => {
  t.same(
    statuses.map((status) => lifetimeOf({ ...upload, status }, 5)),
    [5, 5, undefined, undefined, tombstoneMs, tombstoneMs],
  );
  t.notOk(isPast(upload, Number.MAX_SAFE_INTEGER), 'without a time it has no end');
  const expiresAt = '2026-11-21T00:00:00.000Z';
  t.notOk(isPast({ ...upload, expiresAt }, Date.parse(expiresAt) - 1));
  t.ok(isPast({ ...upload, expiresAt }, Date.parse(expiresAt)));
});
