import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import { uploadRig } from '../support/upload-rig.ts';

t.test('a new upload is what its client said, with an id that cannot be guessed', async (t) => {
  const { uploads, entry, events } = await uploadRig(t);
  const record = await uploads.create({
    fileName: 'a.png',
    size: 10,
    type: 'image/png',
    metadata: { album: 'x' },
    lastModified: 5,
    clientId: 'ann',
    checksum: 'A'.repeat(64),
    checksumAlgorithm: 'sha256',
  });
  t.match(record, {
    id: /^[0-9a-f]{32}$/,
    storageId: 'default',
    offset: 0,
    size: 10,
    status: 'created',
    fileName: 'a.png',
    type: 'image/png',
    custom: { album: 'x', lastModified: 5 },
    clientId: 'ann',
    checksum: 'a'.repeat(64),
  });
  t.strictSame((await entry(record.id)).value, record);
  t.match(await events(record.id), [{ type: 'upload_started', seq: 1 }]);
});

t.test('what the client left out is absent, and names are empty', async (t) => {
  const { uploads } = await uploadRig(t);
  const record = await uploads.create({ size: 1 });
  t.match(record, { fileName: '', type: '', custom: {} });
  for (const key of ['clientId', 'checksum', 'flow', 'detectedType', 'sink']) t.notOk(key in record, key);
});

t.test('a deferred length counts, whatever size stands beside it', async (t) => {
  const { uploads } = await uploadRig(t);
  for (const size of [undefined, 0, 5]) {
    const record = await uploads.create({ uploadLengthDeferred: true, size });
    t.equal(record.status, 'created');
    t.notOk('size' in record);
  }
  t.match(await uploads.create({ uploadLengthDeferred: false, size: 5 }), { size: 5 });
});

t.test('an upload of no bytes is complete: its file is there, its job is told, its log has an end', async (t) => {
  const { uploads, dataStore, told, events } = await uploadRig(t);
  const flow = { flowId: 'f', nodeId: 'n', jobId: 'j' };
  const { id, status, key } = await uploads.create({ size: 0, flow });
  t.equal(status, 'completed');
  t.strictSame(await dataStore.list(key), [key]);
  t.match(told, [{ id, status: 'completed' }]);
  t.match(await events(id), [{ type: 'upload_started' }, { type: 'upload_complete', seq: 2 }]);
});

t.test('what is refused is not written', async (t) => {
  let written = 0;
  const { uploads } = await uploadRig(t, {
    wrapRecords: (store) => ({
      ...store,
      commit: (change) => {
        written += 1;
        return store.commit(change);
      },
    }),
  });
  await t.rejects(uploads.create({ size: 1_000_001 }), { code: 'ERR_MAX_SIZE_EXCEEDED', status: 413 });
  await t.rejects(uploads.create({}), { code: 'VALIDATION_ERROR', details: { field: 'body.size' } });
  await t.rejects(uploads.create({ size: 1, metadata: 5 }), { code: 'INVALID_METADATA' });
  await t.rejects(uploads.create({ size: 1, checksumAlgorithm: 'md5' }), { code: 'UNSUPPORTED_CHECKSUM_ALGORITHM' });
  t.equal(written, 0);
  await uploads.create({ size: 1_000_000 });
  t.equal(written, 1);
});

t.test('metadata that could not be written again is refused, however it comes', async (t) => {
  const { uploads } = await uploadRig(t);
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  t.match(await uploads.create({ size: 1, metadata: JSON.parse(nested(32)) }), { status: 'created' });
  for (const metadata of [JSON.parse(nested(33)), nested(33), `{"a":[${'['.repeat(5000)}${']'.repeat(5000)}]}`]) {
    await t.rejects(uploads.create({ size: 1, metadata }), { code: 'INVALID_METADATA' });
  }
});

t.test('a creation is acknowledged when its record is durable', async (t) => {
  const steps: string[] = [];
  const { uploads } = await uploadRig(t, {
    wrapRecords: (store) => ({
      ...store,
      commit: async (change) => {
        steps.push('commit');
        return store.commit(change);
      },
      flush: async () => {
        steps.push('flush');
        if (steps.length > 2) throw new ServiceError('UNAVAILABLE');
      },
    }),
  });
  await uploads.create({ size: 1 });
  t.strictSame(steps, ['commit', 'flush']);
  await t.rejects(uploads.create({ size: 1 }), { code: 'UNAVAILABLE' });
});
