/** The local data store: the port's suite, then what only a directory can do. */
import fs from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { localDataStore } from '../../../../src/drivers/data/local/index.ts';
import { testDataStore } from '../../../conformance/data-store.ts';
import { openLocal, put } from '../../../support/local-store.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const make = (durability: 'full' | 'process') => async () => {
  const cleanups: (() => Promise<void>)[] = [];
  const { store: driver } = await openLocal({ teardown: (work) => cleanups.push(work) }, durability);
  const teardown = async () => {
    await driver.close();
    for (const cleanup of cleanups) await cleanup();
  };
  return { driver, teardown };
};

testDataStore('local, full', make('full'));
testDataStore('local, process', make('process'));

void t.test('the directory is made, with those above it', async (t) => {
  const directory = join(await temporaryDirectory(t), 'a/b');
  const store = await localDataStore({ directory, durability: 'full' });
  await t.resolves(store.ping());
  t.ok(fs.statSync(directory).isDirectory());
});

void t.test('keys that lead out of the directory are refused', async (t) => {
  const { directory, store } = await openLocal(t);
  const outside = `${directory}-outside`;
  const source = join(await temporaryDirectory(t), 'source');
  await writeFile(source, 'stays where it is');
  const keys = [
    '..',
    '../x',
    'a/../../x',
    'a/..',
    './a',
    'a/./b',
    '/etc/passwd',
    '',
    'a//b',
    'a/',
    '/',
    'a\0b',
    'a\nb',
    'a\\b',
    '~incoming/x',
    'ä',
    `../${outside.split('/').pop()}`,
  ];
  const refused = { code: 'STORAGE_ERROR', cause: { message: /is not a key/ } };
  for (const key of keys) {
    const title = JSON.stringify(key);
    await t.rejects(store.append(key, { offset: 0 }), refused, `append ${title}`);
    await t.rejects(store.read(key), refused, `read ${title}`);
    await t.rejects(store.materialize(key, directory), refused, `materialize ${title}`);
    await t.rejects(store.publish(key, source), refused, `publish ${title}`);
    await t.rejects(store.remove(key), refused, `remove ${title}`);
  }
  for (const prefix of ['../', '/', 'a/../', '/etc/', 'a\0/', '~incoming/']) {
    await t.rejects(store.list(prefix), refused, `list ${JSON.stringify(prefix)}`);
  }
  t.same(await readdir(directory), ['~incoming'], 'nothing was made');
  t.notOk(fs.existsSync(outside));
  t.equal(fs.readFileSync(source, 'utf8'), 'stays where it is');
});

void t.test('a directory is no file', async (t) => {
  const { store } = await openLocal(t);
  await put(store, 'jobs/j1/0', 'x');
  await t.rejects(store.materialize('jobs/j1', '/tmp'), { code: 'FILE_NO_LONGER_EXISTS' });
  await t.rejects(store.read('jobs/j1/0/below'), { code: 'FILE_NO_LONGER_EXISTS' });
});

void t.test('the place of a file is its own, no copy', async (t) => {
  const { directory, store } = await openLocal(t);
  await put(store, 'uploads/x', 'x');
  t.equal(await store.materialize('uploads/x', '/nowhere'), `${directory}/uploads/x`);
});

void t.test('a removal takes the directories with it that it leaves empty', async (t) => {
  const { directory, store } = await openLocal(t);
  await put(store, 'jobs/j1/a/0', 'x');
  await put(store, 'jobs/j1/b/0', 'x');
  await store.remove('jobs/j1/a/0');
  t.same(await readdir(`${directory}/jobs/j1`), ['b']);
  await store.remove('jobs/j1/b/0');
  t.same(await readdir(directory), ['~incoming']);
});

void t.test('files come and go in one directory at the same time', async (t) => {
  const { store } = await openLocal(t, 'process');
  const rounds = Array.from({ length: 60 }, async (_, index) => {
    await put(store, `jobs/j1/${index}`, `${index}`);
    await store.remove(`jobs/j1/${index}`);
  });
  await t.resolves(Promise.all(rounds));
  t.same(await store.list(''), []);
});

void t.test('a ping says when the directory is gone', async (t) => {
  const { directory, store } = await openLocal(t);
  fs.rmSync(directory, { recursive: true });
  await t.rejects(store.ping(), { code: 'STORAGE_ERROR' });
});
