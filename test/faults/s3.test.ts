/** An S3 server that breaks off, answers late or refuses, in all that is not a PATCH in two parts. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { KeptRecord, openS3, patchRecord } from '../support/s3-store.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { attempts, file, mebibyte, sha256, skip, small, stored, there } from './s3-faults.ts';
import { startS3Proxy } from './s3-proxy.ts';

t.test('a read goes on where the answer breaks off', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url, attempts });
  await patchRecord(store, 'uploads/x', new KeptRecord(), file, file.length);
  proxy.set((operation, count) => (operation === 'GetObject' && count < 5 ? { truncateAt: 3_000_000 } : undefined));
  t.equal(await stored(store, 'uploads/x'), sha256(file));
  t.ok(proxy.operations.length >= 4);
  proxy.set((operation) => (operation === 'GetObject' ? { truncateAt: 0 } : undefined));
  await t.rejects(stored(store, 'uploads/x'), { code: 'UNAVAILABLE' }, 'until nothing comes any more');
  proxy.set((operation) => (operation === 'GetObject' ? { answer: 503, code: 'SlowDown' } : undefined));
  await t.rejects(store.read('uploads/x'), { code: 'UNAVAILABLE' });
});

t.test('a tail is read back over broken answers', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url, attempts });
  const record = new KeptRecord();
  await patchRecord(store, 'uploads/x', record, small.subarray(0, 400_000), small.length);
  proxy.set((operation, count) => (operation === 'GetObject' && count < 3 ? { truncateAt: 100_000 } : undefined));
  await patchRecord(store, 'uploads/x', record, small.subarray(400_000), small.length);
  t.equal(await stored(store, 'uploads/x'), sha256(small));
});

t.test('a copy for a worker is whole or not there', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url, attempts });
  await patchRecord(store, 'jobs/j/n/0-abc.v', new KeptRecord(), small, small.length);
  const directory = await temporaryDirectory(t);
  proxy.set((operation, count) => (operation === 'GetObject' && count < 3 ? { truncateAt: 200_000 } : undefined));
  const path = await store.materialize('jobs/j/n/0-abc.v', directory);
  t.match(path, /\.v$/, 'with the end of its name');
  t.ok((await readFile(path)).equals(small));
});

t.test('a result is published over a server that fails now and then', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url, attempts });
  const large = randomBytes(65 * mebibyte);
  const directory = await temporaryDirectory(t);
  for (const [name, bytes] of Object.entries({ small, large })) {
    const path = join(directory, name);
    await writeFile(path, bytes);
    proxy.set((operation, count) =>
      ['PutObject', 'UploadPart', 'CompleteMultipartUpload'].includes(operation) && count === 1
        ? { answerAfter: 500 }
        : undefined,
    );
    await store.publish(`jobs/j/n/${name}`, path);
    t.equal(await stored(store, `jobs/j/n/${name}`), sha256(bytes), name);
  }
});

t.test('slow parts are not taken for dead ones', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url, attempts: { ...attempts, tries: 1, idleMs: 2500 } });
  // Each takes four seconds.
  proxy.set((operation) => (operation === 'UploadPart' ? { bytesPerSecond: 2 * mebibyte } : undefined));
  await patchRecord(store, 'uploads/x', new KeptRecord(), file, file.length);
  t.equal(await stored(store, 'uploads/x'), sha256(file));
});

t.test('what the server refuses for good is not asked again', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  const store = await openS3(t, there, { endpoint: proxy.url, attempts });
  const codes: readonly [number, string, string][] = [
    [403, 'AccessDenied', 'STORAGE_ERROR'],
    [403, 'QuotaExceeded', 'STORAGE_FULL'],
    [507, 'XMinioStorageFull', 'STORAGE_FULL'],
    [501, 'NotImplemented', 'STORAGE_ERROR'],
  ];
  for (const [answer, code, expected] of codes) {
    proxy.set((operation) => (operation === 'PutObject' ? { answer, code } : undefined));
    await t.rejects(patchRecord(store, 'uploads/x', new KeptRecord(), small, small.length), { code: expected }, code);
    t.equal(proxy.operations.length, 1, code);
  }
});

t.test('a server that is not there yet is asked again by the next ping', { skip }, async (t) => {
  const proxy = await startS3Proxy(t, there.endpoint);
  proxy.set(() => ({ answer: 503 }));
  const store = await openS3(t, there, { endpoint: proxy.url, attempts });
  await t.rejects(store.ping(), { code: 'UNAVAILABLE' });
  await t.rejects(store.list(''), { code: 'UNAVAILABLE' });
  await t.rejects(store.remove('uploads/x'), { code: 'UNAVAILABLE' });
  proxy.set();
  await t.resolves(store.ping());
});
