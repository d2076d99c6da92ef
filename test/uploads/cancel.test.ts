import { PassThrough } from 'node:stream';
import t from 'tap';
import { uploadRig } from '../support/upload-rig.ts';
import { until } from '../support/wait.ts';

const flow = { flowId: 'f', nodeId: 'n', jobId: 'j' };

t.test('deleting ends an upload with its event, takes the bytes and tells the job', async (t) => {
  const { uploads, append, told, events, dataStore, kvStore } = await uploadRig(t);
  const { id } = await uploads.create({ size: 10, flow });
  await append(id, 'hello');
  await uploads.remove(id, undefined);
  t.match((await events(id)).at(-1), { type: 'upload_error', error: { code: 'CANCELLED' } });
  t.match(told, [{ id, status: 'cancelled' }]);
  t.strictSame(await dataStore.list('uploads/'), []);
  t.strictSame(await kvStore.due('uploads', Date.now() + 60_000, 10), [], 'and nothing is left to do');
  await t.rejects(uploads.remove(id, undefined), { code: 'FILE_NO_LONGER_EXISTS', status: 410 });
});

t.test(
  'deleting a completed upload takes its file; watchers hear nothing twice, its job may need to know',
  async (t) => {
    const { uploads, append, events, dataStore, told } = await uploadRig(t);
    const { id } = await uploads.create({ size: 5, flow });
    await append(id, 'hello');
    const before = await events(id);
    await uploads.remove(id, undefined);
    t.strictSame(await events(id), before, 'its end has been told');
    t.match(told, [{ status: 'completed' }, { status: 'cancelled' }]);
    t.strictSame(await dataStore.list('uploads/'), []);
    await t.rejects(uploads.get(id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  },
);

t.test('a PATCH that waits behind a deleted one finds the upload gone', async (t) => {
  const { uploads, dataStore } = await uploadRig(t);
  const { id } = await uploads.create({ size: 10 });
  const bodies = [new PassThrough(), new PassThrough(), new PassThrough()];
  const appended = bodies.map((body) => uploads.append({ id, offset: 0, contentLength: 10, body }));
  const refused = appended.map((one) => t.rejects(one));
  bodies[0]?.write('hello');
  await until(() => bodies[0]?.readableLength === 0 && bodies[0].writableLength === 0);
  await uploads.remove(id, undefined);
  for (const body of bodies) body.end();
  await Promise.all(refused);
  t.strictSame(await dataStore.list('uploads/'), [], 'and none leaves bytes behind');
  await t.rejects(uploads.get(id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('abandoning ends what is open and leaves what has settled', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const open = await uploads.create({ size: 5 });
  const done = await uploads.create({ size: 5 });
  await append(done.id, 'hello');
  for (const id of [open.id, done.id, 'nope']) await uploads.abandon(id);
  await t.rejects(uploads.get(open.id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  t.match(await uploads.get(done.id, undefined), { status: 'completed' });
});

t.test('bytes that could not be removed are tried again', async (t) => {
  let broken = true;
  const { uploads, append, dataStore } = await uploadRig(t, {
    wrapData: (store) => ({
      ...store,
      remove: (key) => (broken ? Promise.reject(new Error('the process dies here')) : store.remove(key)),
    }),
  });
  const { id } = await uploads.create({ size: 5 });
  await append(id, 'hello');
  await t.rejects(uploads.removeBytes(id), { message: 'the process dies here' });
  broken = false;
  await uploads.removeBytes(id);
  t.strictSame(await dataStore.list('uploads/'), []);
});

t.test('the bytes of a completed upload can go while its record stays', async (t) => {
  const { uploads, append, dataStore } = await uploadRig(t);
  const done = await uploads.create({ size: 5 });
  await append(done.id, 'hello');
  const open = await uploads.create({ size: 5 });
  await append(open.id, 'he');
  for (const id of [done.id, done.id, open.id, 'nope']) await uploads.removeBytes(id);
  t.strictSame(await dataStore.list('uploads/'), [`uploads/${open.id}`], 'and never those of an open one');
  t.match(await uploads.get(done.id, undefined), { status: 'completed', bytesRemoved: true });
  await t.rejects(uploads.file(done.id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});
