/** The sink over a real server: which objects and parts it makes of what comes, and what it leaves behind. */
import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { createBudget } from '../../../../src/drivers/data/s3/budget.ts';
import type { State } from '../../../../src/drivers/data/s3/state.ts';
import type { DataStore } from '../../../../src/ports/data-store.ts';
import { startS3Proxy } from '../../../faults/s3-proxy.ts';
import { s3Server } from '../../../services/s3.ts';
import { KeptRecord, leftovers, openS3, patchRecord, pour, s3Options } from '../../../support/s3-store.ts';
import { until } from '../../../support/wait.ts';

const mebibyte = 1_048_576;
const server = await s3Server();
const skip = server === undefined ? 'there is no S3 server' : false;
const there = server ?? { endpoint: '', region: '', accessKeyId: '', secretAccessKey: '' };

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const stored = async (store: DataStore, key: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of await store.read(key)) hash.update(chunk);
  return hash.digest('hex');
};
const stateOf = (record: KeptRecord): State => record.last.state as State;

/** Sends the file in pieces of that size, each a PATCH of its own. */
const upload = async (store: DataStore, key: string, file: Buffer, piece: number, length?: number) => {
  const record = new KeptRecord();
  const states: State[] = [];
  for (let at = 0; at < file.length; at += piece) {
    await patchRecord(store, key, record, file.subarray(at, at + piece), length);
    states.push(stateOf(record));
  }
  if (length === undefined) await patchRecord(store, key, record, Buffer.alloc(0), file.length);
  return { record, states };
};

t.test('an upload within one part is one request', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url });
  for (const size of [0, 10, 70_000, 8 * mebibyte]) {
    const file = randomBytes(size);
    proxy.set();
    const record = new KeptRecord();
    await patchRecord(store, `uploads/${size}`, record, file, size);
    t.strictSame(proxy.operations, ['PutObject'], `${size} bytes`);
    t.strictSame(record.last, { offset: size }, 'and nothing is kept for it');
    t.equal(await stored(store, `uploads/${size}`), sha256(file));
  }
});

t.test('a larger one is parts of 8 MiB, without a look at what is there', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const options = { ...s3Options(there), endpoint: proxy.url };
  const store = await openS3(t, there, options);
  const file = randomBytes(20 * mebibyte + 17);
  proxy.set();
  await upload(store, 'uploads/x', file, file.length, file.length);
  t.strictSame(proxy.operations, [
    'CreateMultipartUpload',
    'UploadPart',
    'UploadPart',
    'UploadPart',
    'CompleteMultipartUpload',
    'HeadObject',
  ]);
  t.equal(await stored(store, 'uploads/x'), sha256(file));
  t.strictSame(await leftovers(there, options.prefix), { objects: ['uploads/x'], uploads: [] });
});

for (const length of [true, false]) {
  t.test(
    `an upload that is cut every 6 MiB is finished, its length ${length ? '' : 'un'}known`,
    { skip },
    async (t) => {
      const options = s3Options(there);
      const store = await openS3(t, there, options);
      const file = randomBytes(40 * mebibyte + 1);
      const { states } = await upload(store, 'uploads/x', file, 6 * mebibyte, length ? file.length : undefined);
      t.strictSame(
        states[2]?.parts.map(([number, , size]) => [number, size]),
        [1, 2, 3].map((number) => [number, 6 * mebibyte]),
        'each piece is a part',
      );
      t.equal(await stored(store, 'uploads/x'), sha256(file));
      t.strictSame(await leftovers(there, options.prefix), { objects: ['uploads/x'], uploads: [] });
    },
  );
}

t.test('where parts must be equal, what is cut waits in tails', { skip }, async (t) => {
  const options = { ...s3Options(there), equalParts: true };
  const store = await openS3(t, there, options);
  const file = randomBytes(40 * mebibyte + 1);
  const { states } = await upload(store, 'uploads/x', file, 6 * mebibyte, file.length);
  for (const { parts = [] } of states) for (const [, , size] of parts) t.equal(size, 8 * mebibyte);
  t.equal(states[0]?.tails[0]?.[1], 6 * mebibyte);
  t.equal(await stored(store, 'uploads/x'), sha256(file));
  await until(async () => (await leftovers(there, options.prefix)).objects.length === 1);
  t.strictSame(await leftovers(there, options.prefix), { objects: ['uploads/x'], uploads: [] });
});

t.test('small pieces are tails until they make a part', { skip }, async (t) => {
  const options = s3Options(there);
  const store = await openS3(t, there, options);
  const file = randomBytes(9 * mebibyte);
  const { states } = await upload(store, 'uploads/x', file, mebibyte, file.length);
  t.equal(states[0]?.tails.length, 1);
  t.equal(states[3]?.tails.length, 4);
  t.strictSame(
    states[4]?.parts.map(([, , size]) => size),
    [5 * mebibyte],
    'of 5 MiB, the least there may be',
  );
  t.equal(await stored(store, 'uploads/x'), sha256(file));
  await until(async () => (await leftovers(there, options.prefix)).objects.length === 1);
});

t.test('very many tails become one', { skip }, async (t) => {
  const store = await openS3(t, there);
  const file = randomBytes(40_000);
  const { states } = await upload(store, 'uploads/x', file, 1000, file.length);
  t.ok(states.every(({ tails = [] }) => tails.length <= 32));
  t.equal(await stored(store, 'uploads/x'), sha256(file));
});

t.test('a tail stays until the part that contains it is recorded', { skip }, async (t) => {
  const options = s3Options(there);
  const store = await openS3(t, there, options);
  const file = randomBytes(12 * mebibyte);
  const first = new KeptRecord();
  await patchRecord(store, 'uploads/x', first, file.subarray(0, mebibyte), file.length);
  // This writer sends a part with the tail in it, but its offset never reaches the record.
  const lost = new KeptRecord(first.last);
  await patchRecord(store, 'uploads/x', lost, randomBytes(9 * mebibyte), undefined);
  t.equal(stateOf(lost).parts.length > 0, true);
  await patchRecord(store, 'uploads/x', first, file.subarray(mebibyte), file.length);
  t.equal(await stored(store, 'uploads/x'), sha256(file));
});

t.test('a writer that died has told which part numbers it took', { skip }, async (t) => {
  const store = await openS3(t, there);
  const file = randomBytes(50 * mebibyte);
  const record = new KeptRecord();
  const dying = await store.append('uploads/x', record.last, { length: file.length, keep: record.keep });
  await pour(dying, file.subarray(0, 9 * mebibyte));
  await until(async () => (await dying.sync()).offset === 8 * mebibyte);
  record.save(await dying.sync());
  // Parts that nobody records: with other bytes, to be sure that none of them are used.
  await pour(dying, randomBytes(16 * mebibyte));
  await until(async () => (await dying.sync()).offset === 24 * mebibyte);
  await dying.close();
  t.equal(record.last.offset, 8 * mebibyte);
  t.ok(stateOf(record).next > 3, 'the record knows the numbers before they are used');
  await patchRecord(store, 'uploads/x', record, file.subarray(8 * mebibyte, 20 * mebibyte), file.length);
  await patchRecord(store, 'uploads/x', record, file.subarray(20 * mebibyte), file.length);
  t.equal(await stored(store, 'uploads/x'), sha256(file));
});

t.test(
  'a writer that died before its first commit leaves nothing that the next one goes on with',
  { skip },
  async (t) => {
    const store = await openS3(t, there);
    const file = randomBytes(20 * mebibyte);
    const record = new KeptRecord();
    const dying = await store.append('uploads/x', record.last, { length: file.length, keep: record.keep });
    await pour(dying, randomBytes(17 * mebibyte));
    await until(async () => (await dying.sync()).offset === 16 * mebibyte);
    await dying.close();
    const { uploadId } = stateOf(record);
    const next = await store.append('uploads/x', record.last, { length: file.length, keep: record.keep });
    await pour(next, file);
    await next.finish({ length: file.length });
    await next.close();
    t.not(stateOf(record).uploadId, uploadId);
    t.equal(await stored(store, 'uploads/x'), sha256(file));
  },
);

t.test('what a sink has said is durable stays as it said it', { skip }, async (t) => {
  const store = await openS3(t, there);
  const sink = await store.append('uploads/x', { offset: 0 });
  await pour(sink, randomBytes(9 * mebibyte));
  await until(async () => (await sink.sync()).offset === 8 * mebibyte);
  const durable = await sink.sync();
  const said = JSON.stringify(durable);
  await pour(sink, randomBytes(9 * mebibyte));
  await until(async () => (await sink.sync()).offset === 16 * mebibyte);
  t.equal(JSON.stringify(durable), said, 'a record that holds it may be written later');
  await sink.close();
});

t.test('a record that is another writer’s by now stops this one', { skip }, async (t) => {
  const store = await openS3(t, there);
  const changed = Object.assign(new Error('changed'), { code: 'INVALID_OFFSET' });
  const sink = await store.append('uploads/x', { offset: 0 }, { keep: () => Promise.reject(changed) });
  await t.rejects(pour(sink, randomBytes(30 * mebibyte)).then(() => sink.finish({ length: 30 * mebibyte })));
  await sink.close();
  await t.rejects(store.read('uploads/x'), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('an upload that became one file without the record knowing is ended again', { skip }, async (t) => {
  const store = await openS3(t, there);
  const file = randomBytes(20 * mebibyte);
  const record = new KeptRecord();
  const sink = await store.append('uploads/x', { offset: 0 }, { length: file.length, keep: record.keep });
  await pour(sink, file);
  await sink.finish({ length: file.length });
  await sink.close();
  // The process dies here; the record has what `keep` gave it before the parts became one file.
  t.equal(record.last.offset, file.length);
  t.equal(stateOf(record).parts.length, 3);
  const again = await store.append('uploads/x', record.last, { length: file.length });
  t.strictSame(await again.finish({ length: file.length }), { offset: file.length, state: { whole: true } });
  await again.close();
  const once = await store.append('uploads/x', { offset: file.length, state: { whole: true } });
  await once.finish({ length: file.length });
  await once.close();
  t.equal(await stored(store, 'uploads/x'), sha256(file));
});

t.test('an upload whose parts somebody has aborted is gone', { skip }, async (t) => {
  const store = await openS3(t, there);
  const record = new KeptRecord();
  await patchRecord(store, 'uploads/x', record, randomBytes(20 * mebibyte), 40 * mebibyte);
  await store.remove('uploads/x');
  await t.rejects(patchRecord(store, 'uploads/x', record, randomBytes(20 * mebibyte), 40 * mebibyte), {
    code: 'FILE_NO_LONGER_EXISTS',
  });
});

t.test('a removal takes the parts and tails of an incomplete upload with it', { skip }, async (t) => {
  const options = s3Options(there);
  const store = await openS3(t, there, options);
  for (const key of ['uploads/x', 'uploads/x1']) {
    await patchRecord(store, key, new KeptRecord(), randomBytes(17 * mebibyte), undefined);
  }
  const before = await leftovers(there, options.prefix);
  t.strictSame([before.objects.length, before.uploads.length], [2, 2]);
  await store.remove('uploads/x');
  const after = await leftovers(there, options.prefix);
  t.match(after.objects, [/^~tails\/uploads\/x1\//], 'those of a key that begins alike stay');
  t.strictSame(after.uploads, ['uploads/x1']);
  t.strictSame(await store.list(''), [], 'a tail is no key');
});

t.test('many slow uploads share little memory', { skip }, async (t) => {
  const budget = createBudget(4 * mebibyte);
  const store = await openS3(t, there, { budget });
  const files = Array.from({ length: 8 }, () => randomBytes(3 * mebibyte));
  let most = 0;
  const rounds = files.map(async (file, index) => {
    const sink = await store.append(`uploads/${index}`, { offset: 0 }, { length: file.length });
    for (let at = 0; at < file.length; at += 65_536) {
      if (!sink.write(file.subarray(at, at + 65_536))) await sink.drained();
      most = Math.max(most, budget.used);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await sink.finish({ length: file.length });
    await sink.close();
  });
  await Promise.all(rounds);
  t.ok(most < 5 * mebibyte, `${most} bytes at most`);
  t.equal(budget.used, 0);
  for (const [index, file] of files.entries()) t.equal(await stored(store, `uploads/${index}`), sha256(file));
});

t.test('a sink that is let go gives its memory back', { skip }, async (t) => {
  const budget = createBudget();
  const store = await openS3(t, there, { budget });
  const sink = await store.append('uploads/x', { offset: 0 });
  await pour(sink, randomBytes(20 * mebibyte));
  await sink.close();
  t.equal(budget.used, 0);
  t.equal(sink.write(Buffer.from('late')), false);
  await t.rejects(sink.finish(), { code: 'STORAGE_ERROR' });
});

t.test('the end must be where the bytes end', { skip }, async (t) => {
  const store = await openS3(t, there);
  const sink = await store.append('uploads/x', { offset: 0 });
  sink.write(Buffer.from('abc'));
  await t.rejects(sink.finish({ length: 4 }), { code: 'STORAGE_ERROR' });
  await sink.close();
});
