/** Publishing into the local data store. */
import fs from 'node:fs';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { localDataStore } from '../../../../src/drivers/data/local/index.ts';
import { recordCalls } from '../../../support/file-calls.ts';
import { openLocal, put } from '../../../support/local-store.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

void t.test('publishing syncs the file before it has its name, and the directory after', async (t) => {
  const { directory, store } = await openLocal(t);
  await put(store, 'jobs/j1/0', 'makes the directory');
  const path = join(await temporaryDirectory(t), 'result');
  await writeFile(path, 'result');
  const calls = recordCalls(t, ['fsync']);
  await store.publish('jobs/j1/1', path);
  t.same(calls, [`fsync ${path}`, `fsync ${directory}/jobs/j1`]);
});

const elsewhere = '/dev/shm';
const sameDisk = !fs.existsSync(elsewhere) || fs.statSync(elsewhere).dev === fs.statSync(tmpdir()).dev;

void t.test('publishing from another file system', { skip: sameDisk && 'no second file system' }, async (t) => {
  const { directory, store } = await openLocal(t);
  const path = join(await temporaryDirectory(t, elsewhere), 'result');
  await writeFile(path, 'from afar');
  const calls = recordCalls(t, ['fsync']);
  await store.publish('jobs/j1/0', path);
  t.match(calls[0], path);
  t.ok(
    calls.some((call) => call.startsWith(`fsync ${directory}/~incoming/`)),
    'the copy is synced',
  );
  t.equal(calls.at(-1), `fsync ${directory}/jobs/j1`);
  t.equal(await readFile(`${directory}/jobs/j1/0`, 'utf8'), 'from afar');
  t.notOk(fs.existsSync(path), 'it was moved');
  t.same(await readdir(`${directory}/~incoming`), [], 'no copy is left');
});

void t.test('copies that a crash has left are removed when the store is opened', async (t) => {
  const { directory, store } = await openLocal(t);
  for (const name of ['old', 'new']) await writeFile(`${directory}/~incoming/${name}`, 'half a copy');
  await utimes(`${directory}/~incoming/old`, new Date(), new Date(Date.now() - 7_200_000));
  t.same(await store.list(''), [], 'they are in no list');
  await localDataStore({ directory, durability: 'full' });
  t.same(await readdir(`${directory}/~incoming`), ['new'], 'one that another process may be making stays');
});
