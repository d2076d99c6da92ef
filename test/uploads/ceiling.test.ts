import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { ceilingOf } from '../../src/uploads/ceiling.ts';
import { sampleUpload } from '../support/sample-records.ts';
import { uploadRig } from '../support/upload-rig.ts';

const counted = (storedBytes: number) => ({ openUploads: 1, storedBytes });

t.test('a known size is the ceiling, and costs no question', async (t) => {
  const usage = () => Promise.reject(new Error('nobody needs to know'));
  const upload = sampleUpload({ size: 10, counted: counted(10) });
  const kvStore = { usage } as never;
  const ceiling = await ceilingOf({ kvStore, quota: { storedBytes: 5 }, maxUploadSize: 100 }, upload);
  t.equal(ceiling.size, 10);
  t.match(ceiling.error({ ...upload, offset: 7 }), {
    code: 'ERR_SIZE_EXCEEDED',
    details: { offset: 7, size: 10 },
  });
});

t.test('without a size it is what the service takes, or the rest of the quota', async (t) => {
  const at = async (used: number, max: number | undefined, change = {}) => {
    const kvStore = { usage: async () => counted(used) } as never;
    const upload = sampleUpload({ offset: 4, counted: counted(4), ...change });
    const { size, error } = await ceilingOf({ kvStore, quota: { storedBytes: max }, maxUploadSize: 100 }, upload);
    return [size, error(upload).code];
  };
  t.strictSame(await at(50, undefined), [100, 'ERR_MAX_SIZE_EXCEEDED']);
  t.strictSame(await at(50, 146), [100, 'ERR_MAX_SIZE_EXCEEDED']);
  t.strictSame(await at(50, 145), [99, 'QUOTA_EXCEEDED']);
  t.strictSame(await at(50, 50), [4, 'QUOTA_EXCEEDED']);
  t.strictSame(await at(50, 10), [4, 'QUOTA_EXCEEDED'], 'and never less than there is');
  t.strictSame(await at(50, 52, { size: 6 }), [6, 'ERR_SIZE_EXCEEDED'], 'a size that is told now');
  await t.rejects(at(50, 51, { size: 6 }), { code: 'QUOTA_EXCEEDED', status: 413 });
});

t.test('a body that would pass the quota is refused before a byte of it is read', async (t) => {
  const { uploads, entry } = await uploadRig(t, { quota: { storedBytes: 8 } });
  await uploads.create({ size: 2 });
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  const body = Readable.from([Buffer.from('hello, world')]);
  const refused = { code: 'QUOTA_EXCEEDED', status: 413, details: { limit: 'storedBytes', max: 8, used: 2 } };
  await t.rejects(uploads.append({ id, offset: 0, contentLength: 12, body }), refused);
  await t.rejects(uploads.append({ id, offset: 0, contentLength: 0, uploadLength: 7, body }), refused);
  t.notOk(body.readableDidRead);
  t.match((await entry(id)).value, { offset: 0, status: 'created' });
});

t.test(
  'a body of unknown length stops at the quota; what was committed stays, and there may be room later',
  async (t) => {
    const { uploads, append, entry, kvStore } = await uploadRig(t, { quota: { storedBytes: 8 } });
    const other = await uploads.create({ size: 2 });
    const { id } = await uploads.create({ uploadLengthDeferred: true });
    await append(id, 'hello');
    const body = Readable.from(['!', '!!'].map((text) => Buffer.from(text)));
    await t.rejects(uploads.append({ id, offset: 5, body }), { code: 'QUOTA_EXCEEDED' });
    t.match((await entry(id)).value, { offset: 5, status: 'uploading' });
    t.strictSame(await kvStore.usage(undefined), { openUploads: 2, storedBytes: 7 });
    await uploads.remove(other.id, undefined);
    t.match(await append(id, '!!!'), { offset: 8 });
  },
);

t.test('of two bodies that grow into the same room one is refused at its commit', async (t) => {
  const { uploads, kvStore } = await uploadRig(t, { quota: { storedBytes: 8 } });
  const bodies = [new PassThrough(), new PassThrough()];
  const appends: Promise<unknown>[] = [];
  for (const body of bodies) {
    const { id } = await uploads.create({ uploadLengthDeferred: true });
    appends.push(uploads.append({ id, offset: 0, body }));
  }
  const settled = Promise.allSettled(appends);
  for (const body of bodies) body.end('hello');
  const results = await settled;
  t.match(
    results.find(({ status }) => status === 'rejected'),
    { reason: { code: 'QUOTA_EXCEEDED' } },
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  t.strictSame(await kvStore.usage(undefined), { openUploads: 2, storedBytes: 5 });
});
