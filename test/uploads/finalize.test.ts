import { PassThrough } from 'node:stream';
import t from 'tap';
import { uploadRig } from '../support/upload-rig.ts';
import { until } from '../support/wait.ts';

t.test('a deferred length is fixed at what has come', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  await append(id, 'hello');
  t.match(await uploads.finalize(id, undefined), { status: 'completed', size: 5, offset: 5 });
  t.match(await uploads.finalize(id, undefined), { status: 'completed', size: 5 }, 'again is no error');
});

t.test('with no bytes at all it is an empty file', async (t) => {
  const { uploads, dataStore } = await uploadRig(t);
  const { id, key } = await uploads.create({ uploadLengthDeferred: true });
  t.match(await uploads.finalize(id, undefined), { status: 'completed', size: 0 });
  t.strictSame(await dataStore.list(key), [key]);
});

t.test('bytes of a known length that are missing are named', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const { id } = await uploads.create({ size: 10 });
  await append(id, 'hello');
  await t.rejects(uploads.finalize(id, undefined), {
    code: 'INVALID_OFFSET',
    status: 409,
    details: { 'expected-offset': 5 },
  });
  t.match(await uploads.get(id, undefined), { status: 'uploading', offset: 5, size: 10 });
});

t.test('a running PATCH is stopped first, and what it has brought counts', async (t) => {
  const { uploads } = await uploadRig(t);
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  const body = new PassThrough();
  const refused = t.rejects(uploads.append({ id, offset: 0, body }), { code: 'INVALID_OFFSET' });
  body.write('hello');
  await until(() => body.readableLength === 0 && body.writableLength === 0);
  t.match(await uploads.finalize(id, undefined), { status: 'completed', size: 5 });
  await refused;
});

t.test('an unknown, a foreign and a deleted upload cannot be finalized', async (t) => {
  const { uploads } = await uploadRig(t);
  await t.rejects(uploads.finalize('nope', undefined), { code: 'FILE_NOT_FOUND' });
  const { id } = await uploads.create({ uploadLengthDeferred: true, clientId: 'ann' });
  await t.rejects(uploads.finalize(id, 'bob'), { code: 'FILE_NOT_FOUND' });
  await uploads.remove(id, 'ann');
  await t.rejects(uploads.finalize(id, 'ann'), { code: 'FILE_NO_LONGER_EXISTS' });
});
