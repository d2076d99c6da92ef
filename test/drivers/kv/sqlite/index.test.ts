/** The SQLite store: the port's suite, then what only a file of this process can do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { sqliteKvStore } from '../../../../src/drivers/kv/sqlite/index.ts';
import { jobQueries } from '../../../../src/drivers/kv/sqlite/jobs.ts';
import { testKvStore } from '../../../conformance/kv-store.ts';
import { realClock as clock } from '../../../support/clock.ts';
import { failSyncs, holdCalls, recordCalls } from '../../../support/file-calls.ts';
import { sampleEvent, sampleUpload } from '../../../support/sample-records.ts';
import { type Owner, temporaryDirectory } from '../../../support/temporary.ts';
import { quiet, until } from '../../../support/wait.ts';

type Durability = 'full' | 'process';

const openStore = async (t: Owner, durability: Durability = 'full') => {
  const path = join(await temporaryDirectory(t), 'data/sluice.db');
  return { path, store: sqliteKvStore({ path, durability, clock }) };
};

const make = (durability: Durability) => async () => {
  const cleanups: (() => Promise<void>)[] = [];
  const { store: driver } = await openStore({ teardown: (work) => cleanups.push(work) }, durability);
  const teardown = async () => {
    await driver.close();
    for (const cleanup of cleanups) await cleanup();
  };
  return { driver, teardown };
};

testKvStore('sqlite, full', make('full'));
testKvStore('sqlite, process', make('process'));

const create = { collection: 'uploads', id: 'u1', value: sampleUpload(), expectedVersion: 0 } as const;

void t.test('records, logs, deadlines and counters are there after a reopening', async (t) => {
  const { path, store } = await openStore(t);
  const usage = { clientId: 'ann', delta: { openUploads: 1, storedBytes: 2 ** 40 }, quota: {} };
  await store.commit({ ...create, events: [sampleEvent(1)], dueAt: 5, usage });
  await store.close();
  await t.resolves(store.close(), 'closing may be repeated');
  const again = sqliteKvStore({ path, durability: 'full', clock });
  t.teardown(again.close);
  t.same(await again.get('uploads', 'u1'), { value: sampleUpload(), version: 1 });
  t.same(await again.events('uploads', 'u1', 0), [sampleEvent(1)]);
  t.same(await again.due('uploads', 5, 1), ['u1']);
  t.same(await again.usage('ann'), usage.delta);
});

void t.test('more bytes than a number holds exactly are counted all the same', async (t) => {
  const { store } = await openStore(t);
  t.teardown(store.close);
  const delta = { openUploads: 1, storedBytes: Number.MAX_SAFE_INTEGER };
  for (const id of ['u1', 'u2', 'u3'])
    await store.commit({ ...create, id, usage: { clientId: 'ann', delta, quota: {} } });
  t.same(await store.usage('ann'), { openUploads: 3, storedBytes: 3 * Number.MAX_SAFE_INTEGER });
  for (const id of ['u1', 'u2', 'u3']) {
    const back = { openUploads: -1, storedBytes: -Number.MAX_SAFE_INTEGER };
    await store.commit({ ...create, id, expectedVersion: 1, usage: { clientId: 'ann', delta: back, quota: {} } });
  }
  t.same(await store.usage('ann'), { openUploads: 0, storedBytes: 0 });
});

void t.test('record, log, deadline and counters change together or not at all', async (t) => {
  const { store } = await openStore(t);
  t.teardown(store.close);
  await store.commit({ ...create, events: [sampleEvent(1)], dueAt: 5 });
  // The second number is taken, so the last statement of the transaction fails.
  const usage = { clientId: 'ann', delta: { openUploads: 1, storedBytes: 9 }, quota: {} };
  const change = { ...create, value: sampleUpload({ offset: 9 }), expectedVersion: 1, usage };
  await t.rejects(store.commit({ ...change, events: [sampleEvent(2), sampleEvent(1)] }), { code: 'ERR_SQLITE_ERROR' });
  t.same(await store.get('uploads', 'u1'), { value: sampleUpload(), version: 1 });
  t.same(await store.events('uploads', 'u1', 0), [sampleEvent(1)]);
  t.same(await store.due('uploads', 5, 1), ['u1']);
  t.same(await store.usage('ann'), { openUploads: 0, storedBytes: 0 });
  t.equal(await store.commit(change), 2, 'and the store goes on');
  t.same(await store.usage('ann'), usage.delta);
});

const writer = fileURLToPath(new URL('../../../support/kv-writer.ts', import.meta.url));

/** Runs the writer; `versions` grows with what it acknowledges. */
const startWriter = (t: Test, path: string): { child: ChildProcess; versions: number[]; opened: Promise<unknown> } => {
  const child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  t.teardown(() => child.kill('SIGKILL'));
  const versions: number[] = [];
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => versions.push(Number(line)));
  return { child, versions, opened: once(lines, 'line') };
};

void t.test('a second process is told who is in the way', async (t) => {
  const { path, store } = await openStore(t);
  await store.commit(create);
  const child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
  t.teardown(() => child.kill('SIGKILL'));
  t.match(await text(child.stderr), `Error: The database ${path} is in use by another process`);
  t.throws(
    () => sqliteKvStore({ path, durability: 'full', clock }),
    new Error(`The database ${path} is in use by another process`),
    'and so is a second opener in this one',
  );
  t.equal((await store.get('uploads', 'u1'))?.version, 1, 'the first one goes on');
  await store.close();
  const free = sqliteKvStore({ path, durability: 'full', clock });
  t.teardown(free.close);
  await t.resolves(free.ping(), 'a close frees the database');
});

void t.test('what was acknowledged survives kill -9', async (t) => {
  const path = join(await temporaryDirectory(t), 'sluice.db');
  for (const round of [0, 1, 2]) {
    const { child, versions, opened } = startWriter(t, path);
    await opened;
    await until(() => (versions.at(-1) ?? 0) > 10 + 30 * round);
    child.kill('SIGKILL');
    await once(child, 'close');
    const store = sqliteKvStore({ path, durability: 'full', clock });
    const entry = await store.get('uploads', 'u1');
    const events = await store.events('uploads', 'u1', 0);
    const acknowledged = versions.at(-1) ?? 0;
    t.ok(acknowledged > 0, `${acknowledged} commits were acknowledged`);
    t.ok((entry?.version ?? 0) >= acknowledged && (entry?.version ?? 0) <= acknowledged + 1);
    t.equal(events.length, entry?.version, 'the log has as many events as the record has versions');
    t.equal(events.at(-1)?.seq, entry?.version);
    await store.remove('uploads', 'u1');
    await store.close();
  }
});

void t.test('those who flush at the same time share the syncs of the WAL', async (t) => {
  const { path, store } = await openStore(t);
  t.teardown(store.close);
  const calls = recordCalls(t, ['fdatasync']);
  const flushes = Array.from({ length: 20 }, async (_, index) => {
    await store.commit({ ...create, id: `u${index}` });
    await store.flush();
  });
  await Promise.all(flushes);
  t.ok(calls.length >= 1 && calls.length <= 2, `${calls.length} syncs for 20 commits`);
  t.ok(calls.every((call) => call === `fdatasync ${path}-wal`));
  const before = calls.length;
  await store.flush();
  t.equal(calls.length, before, 'and none when nothing is new');
});

void t.test('who comes while a sync runs waits for the next', async (t) => {
  const { store } = await openStore(t);
  t.teardown(store.close);
  const syncs = holdCalls(t, 'fdatasync');
  const finished: string[] = [];
  const commit = async (id: string) => {
    await store.commit({ ...create, id });
    await store.flush();
    finished.push(id);
  };
  const all = [commit('a')];
  await until(() => syncs.length === 1);
  all.push(commit('b'), commit('c'));
  await quiet();
  t.equal(syncs.length, 1);
  syncs[0]?.();
  await until(() => syncs.length === 2);
  t.same(finished, ['a']);
  all.push(commit('d'));
  syncs[1]?.();
  await until(() => syncs.length === 3);
  await quiet();
  t.same(finished, ['a', 'b', 'c']);
  syncs[2]?.();
  await Promise.all(all);
  t.same(finished, ['a', 'b', 'c', 'd']);
});

void t.test('after a failed sync nothing is claimed to be durable any more', async (t) => {
  const { store } = await openStore(t);
  t.teardown(store.close);
  await store.commit(create);
  const calls = failSyncs(t, 'EIO');
  const unavailable = { code: 'UNAVAILABLE' };
  await t.rejects(store.flush(), unavailable);
  await t.rejects(store.flush(), unavailable);
  await t.rejects(store.ping(), unavailable);
  t.equal(calls.length, 1);
});

void t.test('durability "process" syncs nothing', async (t) => {
  const { store } = await openStore(t, 'process');
  t.teardown(store.close);
  const calls = recordCalls(t, ['fdatasync']);
  await store.commit(create);
  await store.flush();
  t.same(calls, []);
});

void t.test('a closed store is UNAVAILABLE', async (t) => {
  const { path, store } = await openStore(t);
  await store.commit(create);
  const syncs = holdCalls(t, 'fdatasync');
  const flushed = store.flush();
  await until(() => syncs.length === 1);
  const closed = store.close();
  await quiet();
  t.ok(fs.existsSync(`${path}-wal`), 'the close waits for the sync');
  syncs[0]?.();
  await closed;
  await t.resolves(flushed, 'and who asked for it is answered');
  const unavailable = { code: 'UNAVAILABLE' };
  await t.rejects(store.get('uploads', 'u1'), unavailable);
  await t.rejects(store.commit({ ...create, expectedVersion: 1 }), unavailable);
  await t.rejects(store.flush(), unavailable);
});

void t.test('a full database is STORAGE_FULL, and the commit is taken back', async (t) => {
  const { path, store } = await openStore(t);
  await store.close();
  const original = DatabaseSync.prototype.exec;
  // The limit holds for the connection that sets it.
  t.intercept(DatabaseSync.prototype, 'exec', {
    value(this: DatabaseSync, sql: string) {
      original.call(this, sql);
      if (sql.includes('EXCLUSIVE; COMMIT')) original.call(this, 'PRAGMA max_page_count = 20');
    },
  });
  const small = sqliteKvStore({ path, durability: 'full', clock });
  t.teardown(small.close);
  await small.commit({ ...create, events: [sampleEvent(1)] });
  const large = sampleUpload({ custom: { text: 'x'.repeat(200_000) } });
  const change = { ...create, value: large, expectedVersion: 1, events: [sampleEvent(2)] };
  await t.rejects(small.commit(change), { code: 'STORAGE_FULL', status: 507 });
  t.same(await small.get('uploads', 'u1'), { value: sampleUpload(), version: 1 });
  t.same(await small.events('uploads', 'u1', 0), [sampleEvent(1)]);
  t.equal(await small.commit({ ...change, value: sampleUpload({ offset: 1 }) }), 2, 'a smaller one still fits');
});

void t.test('deadlines are found by their index', async (t) => {
  const { path, store } = await openStore(t);
  await store.close();
  const database = new DatabaseSync(path);
  t.teardown(() => database.close());
  const plan = database
    .prepare(
      "EXPLAIN QUERY PLAN SELECT id FROM records WHERE collection = 'uploads' AND due_at <= 9 ORDER BY due_at LIMIT 1",
    )
    .all();
  t.match(JSON.stringify(plan), /USING INDEX records_due/);
  t.notMatch(JSON.stringify(plan), /TEMP B-TREE/);
});

void t.test('every list of jobs reads ranges of an index, and sorts nothing', async (t) => {
  const { path, store } = await openStore(t);
  await store.close();
  const database = new DatabaseSync(path);
  t.teardown(() => database.close());
  const planOf = (query: string) => JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${query}`).all());
  t.match(planOf(jobQueries.ofAnyFlow), /USING INDEX jobs_by_status \(<expr>=\? AND <expr>=\? AND id<\?\)/);
  t.match(planOf(jobQueries.ofOneFlow), /USING INDEX jobs_by_flow \(<expr>=\? AND <expr>=\? AND <expr>=\? AND id<\?\)/);
  for (const query of Object.values(jobQueries)) t.notMatch(planOf(query), /TEMP B-TREE/);
});
