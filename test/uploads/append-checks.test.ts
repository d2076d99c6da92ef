import t from 'tap';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { isRepeatedLast, mayBeUndelivered, requireAppendable } from '../../src/uploads/append-checks.ts';
import type { Announced } from '../../src/uploads/append-request.ts';
import { sampleUpload } from '../support/sample-records.ts';

const max = 100;
const deps = { maxUploadSize: max, quota: {}, kvStore: {} as KvStore };
const upload = sampleUpload({ size: 10, offset: 4, status: 'uploading' });

t.test('what fits may come', async (t) => {
  for (const request of [{}, { offset: 4 }, { offset: 4, contentLength: 6 }, { contentLength: 6, uploadLength: 10 }]) {
    t.match(await requireAppendable(deps, upload, request), { size: 10 });
  }
});

t.test('what does not is named', async (t) => {
  const refuse = (request: Announced, error: { code: string; details?: object }, of = upload) =>
    t.rejects(requireAppendable(deps, of, request), error);
  await refuse({ offset: 5 }, { code: 'INVALID_OFFSET', details: { 'expected-offset': 4, 'provided-offset': 5 } });
  await refuse({ offset: 4, contentLength: 7 }, { code: 'ERR_SIZE_EXCEEDED' });
  await refuse({ offset: 4, uploadLength: 11 }, { code: 'VALIDATION_ERROR' });
  const { size: _, ...deferred } = upload;
  await refuse({ contentLength: 97 }, { code: 'ERR_MAX_SIZE_EXCEEDED', details: { max } }, deferred);
  await refuse({ contentLength: 4, uploadLength: 7 }, { code: 'ERR_SIZE_EXCEEDED' }, deferred);
  await refuse({ uploadLength: 3 }, { code: 'VALIDATION_ERROR' }, deferred);
  await refuse({ uploadLength: 101 }, { code: 'ERR_MAX_SIZE_EXCEEDED' }, deferred);
  await refuse({}, { code: 'FILE_NO_LONGER_EXISTS' }, { ...upload, status: 'cancelled' });
});

t.test('only a body that ends where the completed upload does can be its last', async (t) => {
  const complete = sampleUpload({ size: 10, offset: 10, status: 'completed' });
  t.equal(isRepeatedLast(complete, { offset: 4, contentLength: 6 }), true);
  t.equal(isRepeatedLast(complete, { offset: 4 }), true);
  t.equal(isRepeatedLast(complete, { offset: 4, contentLength: 5 }), false);
  t.equal(isRepeatedLast(complete, { offset: 10, contentLength: 0 }), false);
  t.equal(isRepeatedLast(complete, { contentLength: 6 }), false);
  t.equal(isRepeatedLast(upload, { offset: 0, contentLength: 4 }), false);
});

t.test('only a body without an offset and of the same length can be the undelivered one', async (t) => {
  const known = { ...upload, undelivered: { length: 4, sha256: 'x' } };
  t.equal(mayBeUndelivered(known, { contentLength: 4 }), true);
  t.equal(mayBeUndelivered(known, {}), true);
  t.equal(mayBeUndelivered(known, { contentLength: 5 }), false);
  t.equal(mayBeUndelivered(known, { offset: 4, contentLength: 4 }), false);
  t.equal(mayBeUndelivered(upload, { contentLength: 4 }), false);
});
