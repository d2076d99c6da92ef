import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { tombstoneMs } from '../../src/domain/upload.ts';
import { movedClock } from '../support/clock.ts';
import { rigTtl, type UploadRigOptions, uploadRig } from '../support/upload-rig.ts';
import { until } from '../support/wait.ts';

const flow = { flowId: 'f', nodeId: 'n', jobId: 'j' };

const rig = async (t: Test, options: UploadRigOptions = {}) => {
  const clock = movedClock();
  const made = await uploadRig(t, { ...options, clock });
  return {
    ...made,
    ...clock,
    iso: (ms: number) => new Date(clock.now() + ms).toISOString(),
    /** What the service does every ten seconds. */
    sweep: () => made.uploads.recover(clock.now()),
  };
};

t.test('an upload has its time from the last byte that was committed, until it is complete', async (t) => {
  const { uploads, append, pass, iso, kvStore, now } = await rig(t);
  const created = await uploads.create({ size: 10 });
  t.equal(created.expiresAt, iso(rigTtl));
  pass(1000);
  await uploads.get(created.id, undefined);
  t.match(await uploads.head(created.id, undefined), { expiresAt: iso(rigTtl - 1000) }, 'asking adds none');
  const appended = await append(created.id, 'hello');
  t.equal(appended.expiresAt, iso(rigTtl));
  t.strictSame(await kvStore.due('uploads', now() + rigTtl - 1, 10), []);
  t.strictSame(await kvStore.due('uploads', now() + rigTtl, 10), [created.id]);
  t.equal((await append(created.id, 'world')).expiresAt, undefined);
  t.strictSame(await kvStore.due('uploads', Number.MAX_SAFE_INTEGER, 10), [], 'a complete one is kept');
});

t.test('it does not expire early, however far ahead the sweep looks', async (t) => {
  const { uploads, append, pass, now } = await rig(t);
  const { id } = await uploads.create({ size: 10 });
  pass(rigTtl - 1);
  await uploads.recover(now() + 15_000);
  t.equal((await append(id, 'hello')).status, 'uploading');
});

t.test('an expired upload ends with its event, its bytes go, its job is told, and it is 410', async (t) => {
  const { uploads, append, pass, sweep, events, told, dataStore, errors } = await rig(t);
  const { id } = await uploads.create({ size: 10, flow });
  await append(id, 'hello');
  pass(rigTtl);
  await sweep();
  t.match((await events(id)).at(-1), { type: 'upload_error', error: { code: 'EXPIRED' } });
  t.match(told, [{ id, status: 'cancelled', error: { code: 'EXPIRED' } }]);
  t.strictSame(await dataStore.list('uploads/'), []);
  const gone = { code: 'FILE_NO_LONGER_EXISTS', status: 410, message: 'The upload was not finished in time' };
  await t.rejects(uploads.get(id, undefined), gone);
  await t.rejects(uploads.head(id, undefined), gone);
  await t.rejects(append(id, 'world'), gone);
  await t.rejects(uploads.remove(id, undefined), gone);
  await sweep();
  t.equal(told.length, 1, 'all of it once');
  t.strictSame(errors, []);
});

t.test('ended uploads are remembered for a day, whyever they ended, and then unknown', async (t) => {
  const { uploads, append, pass, sweep, events, kvStore, now } = await rig(t);
  const expired = await uploads.create({ size: 10 });
  pass(rigTtl);
  await sweep();
  const deleted = await uploads.create({ size: 10 });
  const complete = await uploads.create({ size: 5 });
  const checksum = createHash('sha256').update('other').digest('hex');
  const failed = await uploads.create({ size: 5, checksum });
  await append(complete.id, 'hello');
  for (const { id } of [deleted, complete]) await uploads.remove(id, undefined);
  await t.rejects(append(failed.id, 'hello'), { code: 'CHECKSUM_MISMATCH' });
  const all = [expired, deleted, complete, failed];
  pass(tombstoneMs - 1);
  await uploads.recover(now() + 15_000);
  for (const { id } of all) await t.rejects(uploads.head(id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  pass(1);
  await sweep();
  for (const { id } of all) {
    await t.rejects(uploads.head(id, undefined), { code: 'FILE_NOT_FOUND', status: 404 });
    t.strictSame(await events(id), []);
  }
  t.strictSame(await kvStore.due('uploads', Number.MAX_SAFE_INTEGER, 10), []);
});

t.test('what a running writer commits when it is displaced is new time', async (t) => {
  const { uploads, pass, sweep, iso } = await rig(t);
  const { id } = await uploads.create({ size: 10 });
  const body = new PassThrough();
  const appended = t.rejects(uploads.append({ id, offset: 0, body }), { code: 'INVALID_OFFSET' });
  body.write('hello');
  await until(() => body.readableLength === 0 && body.writableLength === 0);
  pass(rigTtl);
  await sweep();
  await appended;
  t.match(await uploads.get(id, undefined), { status: 'uploading', offset: 5, expiresAt: iso(rigTtl) });
});

t.test('a writer that can commit nothing does not keep it', async (t) => {
  const { uploads, pass, sweep, dataStore } = await rig(t);
  const { id } = await uploads.create({ size: 10 });
  const body = new PassThrough();
  const appended = t.rejects(uploads.append({ id, body }), { code: 'INVALID_OFFSET' });
  body.write('hello');
  await until(() => body.readableLength === 0 && body.writableLength === 0);
  pass(rigTtl);
  await sweep();
  await appended;
  await t.rejects(uploads.get(id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  t.strictSame(await dataStore.list('uploads/'), []);
});

t.test('bytes that could not be removed at the end are removed by the next sweep', async (t) => {
  let broken = true;
  const { uploads, append, pass, sweep, dataStore, told, errors } = await rig(t, {
    wrapData: (store) => ({
      ...store,
      remove: (key) => (broken ? Promise.reject(new Error('the process dies here')) : store.remove(key)),
    }),
  });
  const deleted = await uploads.create({ size: 10, flow });
  const expired = await uploads.create({ size: 10, flow });
  for (const { id } of [deleted, expired]) await append(id, 'hello');
  await t.rejects(uploads.remove(deleted.id, undefined), { message: 'the process dies here' });
  await t.rejects(uploads.get(deleted.id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  pass(rigTtl);
  await sweep();
  t.match(errors, [{ message: 'the process dies here' }, { message: 'the process dies here' }]);
  t.equal((await dataStore.list('uploads/')).length, 2);
  broken = false;
  pass(10_000);
  await sweep();
  t.strictSame(await dataStore.list('uploads/'), []);
  t.strictSame(new Set(told.map(({ id }) => id)), new Set([deleted.id, expired.id]));
});
