import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { deliver, engineRig, type Rig } from '../support/engine-rig.ts';
import { until } from '../support/wait.ts';

const rig = (t: Parameters<typeof engineRig>[0]): Promise<Rig> =>
  engineRig(t, { flows: [], script: (task) => deliver(task, ''), size: 0 });
const body = (text: string) => Readable.from([Buffer.from(text)]);
const at = (id: string, offset: number | undefined, text: string) => ({
  id,
  ...(offset === undefined ? {} : { offset }),
  contentLength: text.length,
  body: body(text),
});
const stored = async ({ uploads }: Rig, id: string) => {
  const { store, key } = await uploads.file(id, undefined);
  return buffer(await store.read(key));
};

t.test('chunks at their offsets make the file', async (t) => {
  const all = await rig(t);
  const { id } = await all.uploads.create({ size: 10, fileName: 'a' });
  t.match(await all.uploads.append(at(id, 0, 'hello')), { offset: 5, status: 'uploading' });
  t.match(await all.uploads.append(at(id, 5, 'world')), { offset: 10, status: 'completed' });
  t.equal(String(await stored(all, id)), 'helloworld');
});

t.test('without an offset the body goes where the upload is', async (t) => {
  const all = await rig(t);
  const { id } = await all.uploads.create({ size: 10 });
  await all.uploads.append(at(id, undefined, 'hello'));
  t.match(await all.uploads.append(at(id, undefined, 'world')), { offset: 10, status: 'completed' });
});

t.test('another offset is refused with the true one, and nothing is written', async (t) => {
  const { uploads } = await rig(t);
  const { id } = await uploads.create({ size: 10 });
  await uploads.append(at(id, 0, 'hello'));
  const details = { 'expected-offset': 5, 'provided-offset': 3 };
  await t.rejects(uploads.append(at(id, 3, 'xx')), { code: 'INVALID_OFFSET', details });
  t.equal((await uploads.get(id, undefined)).offset, 5);
});

t.test('a body past the size: refused by its length, stopped when chunked; the offset stays', async (t) => {
  const all = await rig(t);
  const { uploads } = all;
  const { id } = await uploads.create({ size: 8 });
  await uploads.append(at(id, 0, 'hello'));
  await t.rejects(uploads.append(at(id, 5, 'world')), { code: 'ERR_SIZE_EXCEEDED', status: 413 });
  await t.rejects(uploads.append({ id, offset: 5, body: body('world') }), { code: 'ERR_SIZE_EXCEEDED' });
  t.match(await uploads.get(id, undefined), { offset: 5 });
  t.match(await uploads.append(at(id, 5, 'wor')), { status: 'completed' });
  t.equal(String(await stored(all, id)), 'hellowor', 'what was dropped is not in the file');
});

t.test('a cut body keeps what came with an offset, and nothing without', async (t) => {
  const { uploads } = await rig(t);
  for (const offset of [0, undefined]) {
    const { id } = await uploads.create({ size: 10 });
    const stream = new PassThrough();
    const appended = uploads.append({
      id,
      ...(offset === undefined ? {} : { offset }),
      contentLength: 10,
      body: stream,
    });
    stream.write('four');
    await until(() => stream.readableLength === 0 && stream.writableLength === 0);
    stream.destroy(new Error('ECONNRESET'));
    await t.rejects(appended, { code: 'UNAVAILABLE' });
    t.equal((await uploads.get(id, undefined)).offset, offset === undefined ? 0 : 4);
  }
});

t.test('HEAD displaces a running append, which commits and never succeeds', async (t) => {
  const { uploads } = await rig(t);
  const { id } = await uploads.create({ size: 10 });
  const stream = new PassThrough();
  const appended = uploads.append({ id, offset: 0, contentLength: 10, body: stream });
  const refused = t.rejects(appended, { code: 'INVALID_OFFSET' });
  stream.write('abc');
  await until(() => stream.readableLength === 0 && stream.writableLength === 0);
  t.equal((await uploads.head(id, undefined)).offset, 3);
  await refused;
  t.match(await uploads.append(at(id, 3, 'defghij')), { status: 'completed' });
});

t.test('of two bodies at one offset one is accepted', async (t) => {
  const all = await rig(t);
  const { id } = await all.uploads.create({ size: 5 });
  const results = await Promise.allSettled([
    all.uploads.append(at(id, 0, 'first')),
    all.uploads.append(at(id, 0, 'other')),
  ]);
  t.strictSame(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  t.match(
    results.find(({ status }) => status === 'rejected'),
    { reason: { code: 'INVALID_OFFSET' } },
  );
  t.ok(['first', 'other'].includes(String(await stored(all, id))));
});

t.test('a deferred length is fixed by Upload-Length, once', async (t) => {
  const all = await rig(t);
  const { uploads } = all;
  const { id } = await uploads.create({ uploadLengthDeferred: true, size: 0 });
  t.match(await uploads.append(at(id, 0, 'hello')), { offset: 5, status: 'uploading' });
  await t.rejects(uploads.append({ ...at(id, 5, ''), uploadLength: 4 }), { code: 'VALIDATION_ERROR' });
  await t.rejects(uploads.append({ ...at(id, 5, ''), uploadLength: 2_000_000 }), { code: 'ERR_MAX_SIZE_EXCEEDED' });
  t.match(await uploads.append({ ...at(id, 5, 'wo'), uploadLength: 10 }), { offset: 7, size: 10 });
  await t.rejects(uploads.append({ ...at(id, 7, ''), uploadLength: 11 }), { code: 'VALIDATION_ERROR' });
  t.match(await uploads.append(at(id, 7, 'rld')), { status: 'completed' });
  const { id: empty } = await uploads.create({ uploadLengthDeferred: true });
  t.match(await uploads.append({ ...at(empty, 0, ''), uploadLength: 0 }), { status: 'completed', size: 0 });
});

t.test('completion is idempotent', async (t) => {
  const { uploads } = await rig(t);
  const { id } = await uploads.create({ size: 2 });
  await uploads.append(at(id, 0, 'ab'));
  t.match(await uploads.append(at(id, 2, '')), { status: 'completed', offset: 2 });
  t.match(await uploads.finalize(id, undefined), { status: 'completed' });
  await t.rejects(uploads.append(at(id, 2, 'c')), { code: 'ERR_SIZE_EXCEEDED' });
});

t.test('a declared checksum is verified on the last byte', async (t) => {
  const { uploads } = await rig(t);
  const sha = createHash('sha256').update('hello').digest('hex');
  const good = await uploads.create({ size: 5, checksum: sha.toUpperCase() });
  t.match(await uploads.append(at(good.id, 0, 'hello')), { status: 'completed', checksum: sha });
  const bad = await uploads.create({ size: 5, checksum: sha });
  await t.rejects(uploads.append(at(bad.id, 0, 'jello')), { code: 'CHECKSUM_MISMATCH', status: 422 });
  t.match(await uploads.get(bad.id, undefined), { status: 'failed', error: { code: 'CHECKSUM_MISMATCH' } });
  await t.rejects(uploads.file(bad.id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const browser = await uploads.create({ size: 5, checksum: nothing });
  t.match(await uploads.append(at(browser.id, 0, 'hello')), { status: 'completed' }, 'a known client bug is ignored');
  t.match(await uploads.create({ size: 0, checksum: nothing }), { status: 'completed', checksum: nothing });
});

t.test('the type is told by the first bytes, whether they come in one body or in many', async (t) => {
  const { uploads } = await rig(t);
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
  for (const cut of [png.length, 3, 12]) {
    const { id } = await uploads.create({ size: png.length, type: 'text/plain' });
    for (const part of [png.subarray(0, cut), png.subarray(cut)]) {
      const { offset } = await uploads.get(id, undefined);
      await uploads.append({ id, offset, contentLength: part.length, body: Readable.from([part]) });
    }
    t.match(await uploads.get(id, undefined), { detectedType: 'image/png', type: 'text/plain' }, `cut at ${cut}`);
  }
});

t.test('a zero-byte upload is complete when it is created, and can be read', async (t) => {
  const all = await rig(t);
  const { id, status } = await all.uploads.create({ size: 0, fileName: 'empty' });
  t.equal(status, 'completed');
  t.equal((await stored(all, id)).length, 0);
});

t.test("another client's upload is unknown", async (t) => {
  const { uploads } = await rig(t);
  const { id } = await uploads.create({ size: 5, clientId: 'ann' });
  for (const use of [uploads.get, uploads.head, uploads.file, uploads.remove]) {
    await t.rejects(async () => void (await use(id, 'bob')), { code: 'FILE_NOT_FOUND' });
  }
  await t.rejects(uploads.append({ ...at(id, 0, 'hello'), clientId: 'bob' }), { code: 'FILE_NOT_FOUND' });
  t.match(await uploads.append({ ...at(id, 0, 'hello'), clientId: 'ann' }), { status: 'completed' });
});

t.test('deleting stops the writer, takes the bytes, and is final', async (t) => {
  const { uploads, keys } = await rig(t);
  const { id } = await uploads.create({ size: 10 });
  const stream = new PassThrough();
  const appended = t.rejects(uploads.append({ id, offset: 0, contentLength: 10, body: stream }));
  stream.write('abc');
  await until(() => stream.readableLength === 0 && stream.writableLength === 0);
  await uploads.remove(id, undefined);
  await appended;
  t.strictSame(await keys('uploads/'), []);
  for (const use of [uploads.get, uploads.head, uploads.remove]) {
    await t.rejects(async () => void (await use(id, undefined)), { code: 'FILE_NO_LONGER_EXISTS', status: 410 });
  }
  const done = await uploads.create({ size: 0 });
  await uploads.remove(done.id, undefined);
  await t.rejects(uploads.file(done.id, undefined), { code: 'FILE_NO_LONGER_EXISTS' }, 'a completed one too');
});

t.test('what cannot be created says why', async (t) => {
  const { uploads } = await rig(t);
  await t.rejects(uploads.create({}), { code: 'VALIDATION_ERROR', message: /size/ });
  await t.rejects(uploads.create({ size: 1_000_001 }), { code: 'ERR_MAX_SIZE_EXCEEDED', details: { max: 1_000_000 } });
  await t.rejects(uploads.create({ size: 1, metadata: 'x y z' }), { code: 'INVALID_METADATA' });
  await t.rejects(uploads.create({ size: 1, checksumAlgorithm: 'md5' }), { code: 'UNSUPPORTED_CHECKSUM_ALGORITHM' });
});
