import t from 'tap';
import { noUsage, requireWithin, usageDelta, usageOf } from '../../src/domain/quota.ts';
import { sampleUpload } from '../support/sample-records.ts';

t.test('an upload takes up its size from the start, or what has come while it has none', (t) => {
  t.strictSame(usageOf(sampleUpload({ size: 100, offset: 10 })), { openUploads: 1, storedBytes: 100 });
  t.strictSame(usageOf(sampleUpload({ offset: 10 })), { openUploads: 1, storedBytes: 10 });
  t.end();
});

t.test('it is open until it has settled, and takes room until its bytes are removed', (t) => {
  for (const status of ['created', 'uploading', 'finalizing'] as const) {
    t.equal(usageOf(sampleUpload({ status })).openUploads, 1, status);
  }
  for (const status of ['completed', 'failed', 'cancelled'] as const) {
    const upload = sampleUpload({ status, size: 5 });
    t.strictSame(usageOf(upload), { openUploads: 0, storedBytes: 5 }, status);
    t.strictSame(usageOf({ ...upload, bytesRemoved: true }), noUsage);
  }
  t.end();
});

t.test('only a difference is a change', (t) => {
  const used = { openUploads: 1, storedBytes: 5 };
  t.equal(usageDelta(used, used), undefined);
  t.strictSame(usageDelta(noUsage, used), used);
  t.strictSame(usageDelta(used, { openUploads: 1, storedBytes: 3 }), { openUploads: 0, storedBytes: -2 });
  t.end();
});

t.test('growing past a limit is refused, with the limit and what is used', (t) => {
  const used = { openUploads: 3, storedBytes: 50 };
  const grow = (openUploads: number, storedBytes: number, quota: Parameters<typeof requireWithin>[1]['quota']) => () =>
    requireWithin(used, { delta: { openUploads, storedBytes }, quota });
  t.doesNotThrow(grow(9, 9, {}));
  t.doesNotThrow(grow(2, 50, { openUploads: 5, storedBytes: 100 }));
  t.throws(grow(3, 0, { openUploads: 5 }), {
    code: 'QUOTA_EXCEEDED',
    status: 403,
    message: '3 uploads are open, and at most 5 may be',
    details: { limit: 'openUploads', max: 5, used: 3 },
  });
  t.throws(grow(0, 51, { storedBytes: 100 }), {
    code: 'QUOTA_EXCEEDED',
    status: 413,
    message: '50 bytes are stored or promised, and at most 100 may be',
    details: { limit: 'storedBytes', max: 100, used: 50 },
  });
  t.doesNotThrow(grow(-1, 0, { openUploads: 1, storedBytes: 1 }), 'what does not grow may be over');
  t.end();
});
