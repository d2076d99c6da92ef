import t from 'tap';
import {
  type Announced,
  isRepeatedLast,
  mayBeUndelivered,
  requireAppendable,
} from '../../src/uploads/append-checks.ts';
import { sampleUpload } from '../support/sample-records.ts';

const max = 100;
const upload = sampleUpload({ size: 10, offset: 4, status: 'uploading' });

t.test('what fits may come', async (t) => {
  for (const request of [{}, { offset: 4 }, { offset: 4, contentLength: 6 }, { contentLength: 6, uploadLength: 10 }]) {
    t.doesNotThrow(() => requireAppendable(upload, request, max));
  }
});

t.test('what does not is named', async (t) => {
  const refuse = (request: Announced, error: { code: string; details?: object }, of = upload) =>
    t.throws(() => requireAppendable(of, request, max), error);
  refuse({ offset: 5 }, { code: 'INVALID_OFFSET', details: { 'expected-offset': 4, 'provided-offset': 5 } });
  refuse({ offset: 4, contentLength: 7 }, { code: 'ERR_SIZE_EXCEEDED' });
  refuse({ offset: 4, uploadLength: 11 }, { code: 'VALIDATION_ERROR' });
  const { size: _, ...deferred } = upload;
  refuse({ contentLength: 97 }, { code: 'ERR_MAX_SIZE_EXCEEDED', details: { max } }, deferred);
  refuse({ contentLength: 4, uploadLength: 7 }, { code: 'ERR_SIZE_EXCEEDED' }, deferred);
  refuse({ uploadLength: 3 }, { code: 'VALIDATION_ERROR' }, deferred);
  refuse({ uploadLength: 101 }, { code: 'ERR_MAX_SIZE_EXCEEDED' }, deferred);
  refuse({}, { code: 'FILE_NO_LONGER_EXISTS' }, { ...upload, status: 'cancelled' });
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
