/** The sink of the local data store: which calls it makes, and what it does when they fail. */
import fs from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { failSyncs, holdCalls, recordCalls, systemError } from '../../../support/file-calls.ts';
import { openLocal, put } from '../../../support/local-store.ts';
import { quiet, until } from '../../../support/wait.ts';

void t.test('a small upload is an open, a write, a sync of the file and of its directory, and a close', async (t) => {
  const { directory, store } = await openLocal(t);
  await put(store, 'uploads/first', 'makes the directory');
  const calls = recordCalls(t, ['open', 'writev', 'fdatasync', 'fsync', 'ftruncate', 'closeSync']);
  await put(store, 'uploads/x', 'small');
  const path = `${directory}/uploads/x`;
  t.same(calls, [
    `open ${path}`,
    `writev ${path}`,
    `fdatasync ${path}`,
    `fsync ${directory}/uploads`,
    `closeSync ${path}`,
  ]);
});

void t.test('a new directory is made durable in the one above it', async (t) => {
  const { directory, store } = await openLocal(t);
  const calls = recordCalls(t, ['fsync']);
  await put(store, 'jobs/j1/a/0', 'x');
  t.same(
    calls.sort(),
    [directory, `${directory}/jobs`, `${directory}/jobs/j1`, `${directory}/jobs/j1/a`].map((path) => `fsync ${path}`),
  );
});

void t.test('only the first sync of a file syncs its directory', async (t) => {
  const { directory, store } = await openLocal(t);
  const first = await store.append('uploads/x', { offset: 0 });
  first.write(Buffer.from('ab'));
  await first.finish();
  await first.close();
  const calls = recordCalls(t, ['fsync', 'fdatasync']);
  const second = await store.append('uploads/x', { offset: 2 });
  second.write(Buffer.from('cd'));
  t.same(await second.finish(), { offset: 4 });
  await second.sync();
  await second.close();
  t.same(calls, [`fdatasync ${directory}/uploads/x`], 'and nothing is synced twice');
});

void t.test('uploads into one directory share its syncs', async (t) => {
  const { directory, store } = await openLocal(t);
  await put(store, 'uploads/first', 'makes the directory');
  const sinks = await Promise.all(
    Array.from({ length: 20 }, (_, index) => store.append(`uploads/${index}`, { offset: 0 })),
  );
  const calls = recordCalls(t, ['fsync']);
  await Promise.all(sinks.map((sink) => sink.finish({ length: 0 })));
  await Promise.all(sinks.map((sink) => sink.close()));
  t.ok(calls.every((call) => call === `fsync ${directory}/uploads`));
  t.ok(calls.length >= 1 && calls.length <= 2, `${calls.length} syncs for 20 files`);
});

void t.test('durability "process" syncs nothing', async (t) => {
  const { store } = await openLocal(t, 'process');
  const calls = recordCalls(t, ['fsync', 'fdatasync', 'writev']);
  await put(store, 'uploads/x', 'small');
  t.equal(calls.length, 1, 'only the write');
});

void t.test('what lies beyond the end is cut off in the file itself', async (t) => {
  const { directory, store } = await openLocal(t);
  await put(store, 'uploads/x', '0123456789');
  const sink = await store.append('uploads/x', { offset: 3 });
  sink.write(Buffer.from('AB'));
  t.same(await sink.sync().then(() => sink.finish()), { offset: 5 });
  t.equal(await readFile(`${directory}/uploads/x`, 'utf8'), '012AB56789', 'not before the end is known');
  const calls = recordCalls(t, ['ftruncate', 'fdatasync']);
  t.same(await sink.finish({ length: 5 }), { offset: 5 });
  await sink.close();
  t.equal(await readFile(`${directory}/uploads/x`, 'utf8'), '012AB');
  t.same(
    calls.map((call) => call.split(' ')[0]),
    ['ftruncate', 'fdatasync'],
    'and the cut is synced',
  );
});

void t.test('a length that was not reached does not fill the file with zeros', async (t) => {
  const { directory, store } = await openLocal(t);
  const sink = await store.append('uploads/x', { offset: 0 });
  sink.write(Buffer.from('abc'));
  await t.rejects(sink.finish({ length: 5 }), { code: 'STORAGE_ERROR' });
  await sink.close();
  t.equal(await readFile(`${directory}/uploads/x`, 'utf8'), '', 'and what was not made durable gives its room back');
});

void t.test('acknowledged bytes that are gone are not replaced by zeros', async (t) => {
  const { directory, store } = await openLocal(t);
  await t.rejects(store.append('uploads/x', { offset: 3 }), { code: 'FILE_NO_LONGER_EXISTS' });
  t.notOk(fs.existsSync(`${directory}/uploads/x`));
});

/** Makes `fs.writev` write `bytes` at most per call, as a disk may. */
const writeShort = (t: Test, bytes: number, fails: (call: number) => boolean = () => false) => {
  const sizes: number[] = [];
  t.intercept(fs, 'writev', {
    value: (fd: number, chunks: Buffer[], position: number, done: (error: Error | null, written: number) => void) => {
      if (fails(sizes.length)) return setImmediate(done, systemError('ENOSPC'), 0);
      const part = Buffer.concat(chunks).subarray(0, bytes);
      sizes.push(part.length);
      return fs.write(fd, part, 0, part.length, position, done);
    },
  });
  return sizes;
};

void t.test('short writes are continued', async (t) => {
  const { directory, store } = await openLocal(t);
  const sizes = writeShort(t, 7);
  const sink = await store.append('uploads/x', { offset: 0 });
  for (const piece of ['0123456789', '', 'abcdefghijkl', 'XYZ', '!']) sink.write(Buffer.from(piece));
  t.same(await sink.finish({ length: 26 }), { offset: 26 });
  await sink.close();
  t.equal(await readFile(`${directory}/uploads/x`, 'utf8'), '0123456789abcdefghijklXYZ!');
  t.ok(sizes.length >= 4);
});

void t.test('a write that takes nothing is an error and not a loop', async (t) => {
  const { store } = await openLocal(t);
  writeShort(t, 0);
  const sink = await store.append('uploads/x', { offset: 0 });
  sink.write(Buffer.from('abc'));
  await t.rejects(sink.finish(), { code: 'STORAGE_ERROR' });
  await sink.close();
});

void t.test('after a failed write every call rejects, and the bytes that are safe stay', async (t) => {
  const { directory, store } = await openLocal(t);
  writeShort(t, 4, (call) => call === 2);
  const sink = await store.append('uploads/x', { offset: 0 });
  sink.write(Buffer.from('0123'));
  t.same(await sink.finish(), { offset: 4 }, 'the first four are safe');
  sink.write(Buffer.from('456789'));
  const full = { code: 'STORAGE_FULL', status: 507 };
  await t.rejects(
    sink.drained().then(() => sink.finish()),
    full,
  );
  t.equal(sink.write(Buffer.from('more')), false);
  await t.rejects(sink.drained(), full);
  await t.rejects(sink.sync(), full);
  await t.rejects(sink.finish(), full);
  await t.resolves(sink.close());
  await t.rejects(sink.sync(), full, 'the first failure is the one that counts');
  t.equal(await readFile(`${directory}/uploads/x`, 'utf8'), '0123', 'the room of all others is given back');
});

void t.test('a full disk is STORAGE_FULL', { skip: !fs.existsSync('/dev/full') && 'no /dev/full' }, async (t) => {
  const { directory, store } = await openLocal(t);
  await mkdir(`${directory}/uploads`);
  await symlink('/dev/full', `${directory}/uploads/x`);
  const sink = await store.append('uploads/x', { offset: 0 });
  sink.write(Buffer.from('abc'));
  await t.rejects(sink.finish(), { code: 'STORAGE_FULL' });
  await sink.close();
});

void t.test('a failed sync is not tried again, as the second would claim success', async (t) => {
  const { store } = await openLocal(t);
  const sink = await store.append('uploads/x', { offset: 0 });
  sink.write(Buffer.from('abc'));
  const calls = failSyncs(t, 'EIO');
  await t.rejects(sink.finish(), { code: 'STORAGE_ERROR' });
  await t.rejects(sink.finish(), { code: 'STORAGE_ERROR' });
  await t.rejects(sink.sync(), { code: 'STORAGE_ERROR' });
  await sink.close();
  t.equal(calls.length, 1);
});

void t.test('above a mebibyte in waiting, a pause is asked for', async (t) => {
  const { store } = await openLocal(t);
  const sink = await store.append('uploads/x', { offset: 0 });
  const chunk = Buffer.alloc(524_288);
  t.equal(sink.write(chunk), true, 'in flight');
  t.equal(sink.write(chunk), true, 'half a mebibyte waits');
  t.equal(sink.write(chunk), true, 'a mebibyte waits');
  t.equal(sink.write(chunk), false, 'more than a mebibyte waits');
  await sink.drained();
  t.equal(sink.write(Buffer.from('x')), true);
  t.same(await sink.finish(), { offset: 4 * chunk.length + 1 });
  await sink.close();
});

void t.test('closing waits for the write in flight, and may be repeated', async (t) => {
  const { directory, store } = await openLocal(t);
  const sink = await store.append('uploads/x', { offset: 0 });
  const writes = holdCalls(t, 'writev');
  const calls = recordCalls(t, ['closeSync']);
  sink.write(Buffer.from('in flight'));
  sink.write(Buffer.from('given up'));
  const closed = Promise.all([sink.close(), sink.close()]);
  await quiet();
  t.same(calls, []);
  writes[0]?.();
  await closed;
  t.same(calls, [`closeSync ${directory}/uploads/x`]);
  t.equal(await readFile(`${directory}/uploads/x`, 'utf8'), '', 'nobody was promised what it has written');
  await t.rejects(sink.sync(), { code: 'STORAGE_ERROR' });
});

void t.test('closing waits for a sync', async (t) => {
  const { directory, store } = await openLocal(t);
  const sink = await store.append('uploads/x', { offset: 0 });
  const syncs = holdCalls(t, 'fdatasync');
  const calls = recordCalls(t, ['closeSync']);
  sink.write(Buffer.from('abc'));
  const finished = sink.finish();
  await until(() => syncs.length === 1);
  const closed = sink.close();
  await quiet();
  t.same(calls, []);
  syncs[0]?.();
  await closed;
  t.same(calls, [`closeSync ${directory}/uploads/x`]);
  t.same(await finished, { offset: 3 }, 'and the sync tells what it has reached');
});

void t.test('a sync of the directory that began before a file was there is not enough for it', async (t) => {
  const { store } = await openLocal(t);
  await put(store, 'uploads/first', 'makes the directory');
  const syncs = holdCalls(t, 'fsync');
  const finish = async (key: string) => {
    await put(store, key, 'x');
    finished.push(key);
  };
  const finished: string[] = [];
  const all = [finish('uploads/a')];
  await until(() => syncs.length === 1);
  all.push(finish('uploads/b'), finish('uploads/c'));
  await quiet();
  t.equal(syncs.length, 1);
  syncs[0]?.();
  await until(() => syncs.length === 2);
  await quiet();
  t.same(finished, ['uploads/a']);
  syncs[1]?.();
  await Promise.all(all);
  t.same(finished.sort(), ['uploads/a', 'uploads/b', 'uploads/c']);
});

void t.test('a file in a directory that another one has just made waits until that is durable', async (t) => {
  const { store } = await openLocal(t);
  const syncs = holdCalls(t, 'fsync');
  let finished = false;
  // Its first step is to sync the directory above the new one.
  const first = put(store, 'uploads/a', 'x');
  await until(() => syncs.length === 1);
  const second = put(store, 'uploads/b', 'x').then(() => {
    finished = true;
  });
  await until(() => syncs.length === 2);
  syncs[1]?.();
  await quiet();
  t.equal(finished, false, 'its own directory entry is safe, that of the directory is not');
  syncs[0]?.();
  await until(() => syncs.length === 3);
  syncs[2]?.();
  await Promise.all([first, second]);
  t.equal(finished, true);
});
