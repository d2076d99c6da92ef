import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { anyone } from '../../src/domain/reader.ts';
import { uploadRig } from '../support/upload-rig.ts';
import { until } from '../support/wait.ts';

t.test('the file of a completed upload', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const { id } = await uploads.create({ size: 10, fileName: 'a.txt', type: 'text/plain' });
  await append(id, 'hello');
  await t.rejects(uploads.file(id, undefined), { code: 'FILE_NOT_FOUND' }, 'not before');
  await append(id, 'world');
  const file = await uploads.file(id, undefined);
  t.match(file, { size: 10, mimeType: 'text/plain', fileName: 'a.txt', version: id });
  t.equal(await text(await file.store.read(file.key)), 'helloworld');
  t.match(await uploads.file(id, anyone), { version: id }, 'also for whoever has a signed address');
  await t.rejects(uploads.file(id, 'another client'), { code: 'FILE_NOT_FOUND' });
});

t.test('the offset that HEAD tells is durable, and so is that of the PATCH which it stops', async (t) => {
  const steps: string[] = [];
  const { uploads } = await uploadRig(t, {
    wrapRecords: (store) => ({
      ...store,
      async commit(change) {
        steps.push('commit');
        return store.commit(change);
      },
      async flush() {
        steps.push('flush');
      },
    }),
  });
  const { id } = await uploads.create({ size: 10 });
  const body = new PassThrough();
  const appended = uploads.append({ id, offset: 0, contentLength: 10, body }).catch(() => steps.push('refused'));
  body.write('hello');
  await until(() => body.readableLength === 0 && body.writableLength === 0);
  steps.length = 0;
  await uploads.head(id, undefined);
  await appended;
  t.strictSame(steps.slice(0, 2), ['commit', 'flush']);
  t.ok(steps.indexOf('refused') > 1);
  steps.length = 0;
  t.equal((await uploads.head(id, undefined)).offset, 5);
  t.strictSame(steps, ['flush'], 'whoever has written it');
});

t.test('GET disturbs nobody', async (t) => {
  const { uploads } = await uploadRig(t);
  const { id } = await uploads.create({ size: 5 });
  const body = new PassThrough();
  const appended = uploads.append({ id, offset: 0, contentLength: 5, body });
  body.write('hel');
  await until(() => body.readableLength === 0 && body.writableLength === 0);
  t.match(await uploads.get(id, undefined), { offset: 0, status: 'created' });
  body.end('lo');
  t.match(await appended, { status: 'completed' });
});

t.test('a failed upload can be read, to learn why, but neither continued nor downloaded', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const { id } = await uploads.create({ size: 5, checksum: 'a'.repeat(64) });
  await t.rejects(append(id, 'hello'), { code: 'CHECKSUM_MISMATCH' });
  t.match(await uploads.get(id, undefined), { status: 'failed', error: { code: 'CHECKSUM_MISMATCH' } });
  await t.rejects(uploads.head(id, undefined), { code: 'FILE_NO_LONGER_EXISTS', message: /SHA-256/ });
  await t.rejects(uploads.file(id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('what a storage can do', async (t) => {
  const { uploads } = await uploadRig(t);
  t.match(uploads.capabilities('default'), { type: 'local', capabilities: { supportsResumableUploads: true } });
});
