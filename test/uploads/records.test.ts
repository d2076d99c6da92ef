import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import t from 'tap';
import { noUsage } from '../../src/domain/quota.ts';
import type { Usage } from '../../src/domain/upload.ts';
import { movedClock } from '../support/clock.ts';
import { rigTtl, uploadRig } from '../support/upload-rig.ts';

const counts = (openUploads: number, storedBytes: number): Usage => ({ openUploads, storedBytes });

t.test('every step of an upload is counted, and in the end nothing is left', async (t) => {
  const clock = movedClock();
  const { uploads, append, kvStore } = await uploadRig(t, { clock });
  const used = () => kvStore.usage(undefined);
  const known = await uploads.create({ size: 10 });
  t.strictSame(await used(), counts(1, 10), 'a known size at once');
  await append(known.id, 'hello');
  t.strictSame(await used(), counts(1, 10));
  await append(known.id, 'world');
  t.strictSame(await used(), counts(0, 10), 'a complete upload is not open');
  const deferred = await uploads.create({ uploadLengthDeferred: true });
  await append(deferred.id, 'hello');
  t.strictSame(await used(), counts(1, 15), 'an unknown size as it comes');
  await uploads.finalize(deferred.id, undefined);
  t.strictSame(await used(), counts(0, 15));
  const checksum = createHash('sha256').update('other').digest('hex');
  const failed = await uploads.create({ size: 5, checksum });
  await t.rejects(append(failed.id, 'hello'), { code: 'CHECKSUM_MISMATCH' });
  t.strictSame(await used(), counts(0, 15), 'what has failed takes nothing up');
  await uploads.remove(known.id, undefined);
  await uploads.removeBytes(deferred.id);
  t.strictSame(await used(), noUsage);
  await uploads.create({ size: 100 });
  await uploads.create({ size: 0 });
  clock.pass(rigTtl);
  await uploads.recover(clock.now());
  t.strictSame(await used(), noUsage, 'nor what has expired');
});

t.test('fixing a deferred length counts it once, however the request ends', async (t) => {
  const { uploads, kvStore, append, entry } = await uploadRig(t);
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  await append(id, 'he');
  await uploads.append({ id, offset: 2, uploadLength: 10, contentLength: 0, body: Readable.from([]) });
  t.strictSame(await kvStore.usage(undefined), counts(1, 10));
  t.strictSame((await entry(id)).value.counted, counts(1, 10));
  await append(id, 'llo');
  t.strictSame(await kvStore.usage(undefined), counts(1, 10));
});

t.test('each client has its own counters', async (t) => {
  const { uploads, kvStore } = await uploadRig(t, { quota: { openUploads: 1 } });
  for (const clientId of ['ann', 'bob', undefined]) await uploads.create({ size: 1, clientId });
  for (const clientId of ['ann', 'bob', undefined]) {
    t.strictSame(await kvStore.usage(clientId), counts(1, 1));
    await t.rejects(uploads.create({ size: 1, clientId }), { code: 'QUOTA_EXCEEDED', status: 403 });
  }
});

t.test('of many creations at once exactly as many succeed as the quota has room for', async (t) => {
  const { uploads, kvStore, append } = await uploadRig(t, { quota: { openUploads: 5, storedBytes: 70 } });
  const tries = await Promise.allSettled(Array.from({ length: 30 }, () => uploads.create({ size: 10 })));
  const created = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.equal(created.length, 5);
  for (const { id } of created) await append(id, 'helloworld');
  await uploads.create({ size: 10 });
  await t.rejects(uploads.create({ size: 11 }), {
    code: 'QUOTA_EXCEEDED',
    status: 413,
    details: { limit: 'storedBytes', max: 70, used: 60 },
  });
  t.strictSame(await kvStore.usage(undefined), counts(1, 60));
  await uploads.remove(String(created[0]?.id), undefined);
  t.match(await uploads.create({ size: 11 }), { status: 'created' }, 'what is removed makes room');
});
