import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { createComplete } from '../../src/uploads/complete.ts';
import { realClock } from '../support/clock.ts';
import { type UploadRig, uploadRig } from '../support/upload-rig.ts';

const flow = { flowId: 'f', nodeId: 'n', jobId: 'j' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

t.test('the last byte completes the upload, tells it, then tells the job once', async (t) => {
  const { uploads, append, told, events, kvStore } = await uploadRig(t);
  const { id } = await uploads.create({ size: 5, flow });
  await append(id, 'hel');
  t.strictSame(told, []);
  t.match(await append(id, 'lo'), { status: 'completed', offset: 5 });
  t.match(told, [{ id, status: 'completed' }]);
  t.strictSame(
    (await events(id)).map(({ type, seq }) => `${seq} ${type}`),
    ['1 upload_started', '4 upload_complete'],
    'the numbers between are progress',
  );
  t.strictSame(await kvStore.due('uploads', Number.MAX_SAFE_INTEGER, 10), [], 'nothing is left to do');
});

t.test('an upload of no job tells none and has no deadline', async (t) => {
  const { uploads, append, told, kvStore } = await uploadRig(t);
  const { id } = await uploads.create({ size: 5 });
  await append(id, 'hello');
  t.strictSame(told, []);
  t.strictSame(await kvStore.due('uploads', Number.MAX_SAFE_INTEGER, 10), []);
});

t.test('a job that could not be told stays on the list', async (t) => {
  const { uploads, append, kvStore, entry } = await uploadRig(t, {
    tellJob: () => Promise.reject(new Error('the queue is gone')),
  });
  const { id } = await uploads.create({ size: 5, flow });
  await t.rejects(append(id, 'hello'), { message: 'the queue is gone' });
  t.equal((await entry(id)).value.status, 'completed');
  t.strictSame(await kvStore.due('uploads', Date.now() + 60_000, 10), [id]);
});

t.test('a wrong checksum fails the upload, takes the bytes and tells the job', async (t) => {
  const { uploads, append, told, dataStore, events } = await uploadRig(t);
  const { id } = await uploads.create({ size: 5, flow, checksum: sha256('other') });
  const message = `The bytes have the SHA-256 ${sha256('hello')}, not ${sha256('other')}`;
  await t.rejects(append(id, 'hello'), { code: 'CHECKSUM_MISMATCH', message });
  t.match(told, [{ id, status: 'failed', error: { code: 'CHECKSUM_MISMATCH', message } }]);
  t.strictSame(await dataStore.list('uploads/'), []);
  t.match((await events(id)).at(-1), { type: 'upload_error', error: { code: 'CHECKSUM_MISMATCH' } });
});

t.test('the checksum is that of the stored bytes, over all bodies', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const { id } = await uploads.create({ size: 10, checksum: sha256('helloworld') });
  await append(id, 'hello');
  t.match(await append(id, 'world'), { status: 'completed', checksum: sha256('helloworld') });
});

/** A rig whose bytes are read only after `meanwhile`, as if another replica had done it during the verification. */
const interrupted = async (t: Test, meanwhile: (rig: UploadRig, id: string) => Promise<void>) => {
  const rig: UploadRig = await uploadRig(t, {
    wrapData: (store) => ({
      ...store,
      async read(key, range) {
        await meanwhile(rig, key.slice('uploads/'.length));
        return store.read(key, range);
      },
    }),
  });
  return rig;
};

/** An upload of "helloworld" whose first half has come to another process, so that its hash is not known here. */
const halfElsewhere = async ({ uploads, dataStore, change }: UploadRig): Promise<string> => {
  const { id, key } = await uploads.create({ size: 10, checksum: sha256('helloworld') });
  const sink = await dataStore.append(key, { offset: 0 });
  sink.write(Buffer.from('hello'));
  await sink.finish();
  await sink.close();
  await change(id, { offset: 5, status: 'uploading' });
  return id;
};

t.test('a checksum is verified while the bytes come, and by reading them back when some came elsewhere', async (t) => {
  let reads = 0;
  const rig = await interrupted(t, async () => {
    reads += 1;
  });
  const { id } = await rig.uploads.create({ size: 10, checksum: sha256('helloworld') });
  await rig.append(id, 'hello');
  t.match(await rig.append(id, 'world'), { status: 'completed' });
  t.equal(reads, 1, 'only for the type, which so few bytes may not tell');
  t.match(await rig.append(await halfElsewhere(rig), 'world'), { status: 'completed' });
  t.equal(reads, 3);
  const other = await halfElsewhere(rig);
  await t.rejects(rig.append(other, 'there'), { code: 'CHECKSUM_MISMATCH' });
});

t.test('nobody waits for a file that is read back', async (t) => {
  const rig = await interrupted(t, async ({ uploads }, id) => {
    t.match(await uploads.head(id, undefined), { status: 'finalizing', offset: 10 });
  });
  t.match(await rig.append(await halfElsewhere(rig), 'world'), { status: 'completed' });
});

t.test('an upload that is deleted while its bytes are verified stays deleted', async (t) => {
  const rig = await interrupted(t, ({ change }, id) => change(id, { status: 'cancelled' }));
  const id = await halfElsewhere(rig);
  await t.rejects(rig.append(id, 'world'), { code: 'INVALID_OFFSET' });
  t.equal((await rig.entry(id)).value.status, 'cancelled');
});

t.test('one that another request completes while its bytes are verified is told once', async (t) => {
  const seen: string[] = [];
  const rig = await interrupted(t, async ({ change, entry }, id) => {
    seen.push((await entry(id)).value.status);
    if (seen.length === 1) await change(id, { status: 'completed' });
  });
  const id = await halfElsewhere(rig);
  const before = await rig.events(id);
  t.match(await rig.append(id, 'world'), { status: 'completed' });
  t.equal((await rig.entry(id)).value.status, 'completed');
  t.strictSame(await rig.events(id), before);
  t.equal(seen[0], 'finalizing');
});

t.test('one that another request has completed already is not told again', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 5, checksum: sha256('hello') });
  const stale = await rig.entry(id);
  await rig.append(id, 'hello');
  const before = await rig.events(id);
  const complete = createComplete({
    kvStore: rig.kvStore,
    clock: realClock,
    uploadTtl: 60_000,
    quota: {},
    storage: () => rig.dataStore,
    tellJob: async () => {},
    publish: async ({ value, expectedVersion, events = [] }) => {
      t.strictSame(events, [], 'nothing is told');
      const version = await rig.kvStore.commit({ collection: 'uploads', id, value, expectedVersion });
      return version === undefined ? undefined : { value, version };
    },
  });
  t.match(await complete(stale, { change: { offset: 5 } }), { value: { status: 'completed', offset: 5 } });
  t.strictSame(await rig.events(id), before);
});
