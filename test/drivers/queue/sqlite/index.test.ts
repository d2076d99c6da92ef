/** The queue beside the records: the port's suite, then what the lease table promises. */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { openDatabase } from '../../../../src/drivers/kv/sqlite/database.ts';
import { sqliteKvStore } from '../../../../src/drivers/kv/sqlite/index.ts';
import { sqliteQueue } from '../../../../src/drivers/queue/sqlite/index.ts';
import type { QueueHandler } from '../../../../src/ports/job-queue.ts';
import { testJobQueue } from '../../../conformance/job-queue.ts';
import { realClock as clock } from '../../../support/clock.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { gate, quiet, until } from '../../../support/wait.ts';

testJobQueue('sqlite', async () => {
  const cleanups: (() => Promise<void>)[] = [];
  const path = join(await temporaryDirectory({ teardown: (work) => cleanups.push(work) }), 'sluice.db');
  let store = sqliteKvStore({ path, durability: 'process', clock });
  const crash = async () => {
    // The handlers go on in the dark, and the file is free for the next owner.
    await store.close();
    store = sqliteKvStore({ path, durability: 'process', clock });
    return store.queue();
  };
  const teardown = async () => {
    await store.close();
    for (const cleanup of cleanups) await cleanup();
  };
  return { driver: store.queue(), crash, teardown };
});

const openQueue = async (t: Test, lock: number) => {
  const path = join(await temporaryDirectory(t), 'sluice.db');
  const database = openDatabase(path);
  const queue = sqliteQueue({ database, clock, lock });
  t.teardown(() => {
    queue.abandon();
    if (database.isOpen) database.close();
  });
  return { database, queue, path };
};

/** Counts what is asked of the database from now on: setting an authorizer makes every statement be prepared again. */
const countStatements = (database: DatabaseSync): (() => number) => {
  let count = 0;
  database.setAuthorizer(() => {
    count += 1;
    return 0;
  });
  return () => count;
};

void t.test('a lease is renewed for as long as its handler runs', async (t) => {
  const { queue } = await openQueue(t, 60);
  const { passed, open } = gate();
  let deliveries = 0;
  const handler: QueueHandler = async () => {
    deliveries += 1;
    await passed;
    return 'done';
  };
  queue.consume(handler, { concurrency: 4 });
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => deliveries === 1);
  await quiet();
  await quiet();
  t.equal(deliveries, 1, 'five locks later');
  open();
  await queue.close();
});

void t.test('a process that stood still for longer than the lock keeps what it holds', async (t) => {
  const { queue } = await openQueue(t, 40);
  const { passed, open } = gate();
  const seen: string[] = [];
  const handler: QueueHandler = async ({ id }) => {
    seen.push(id);
    await passed;
    return 'done';
  };
  queue.consume(handler, { concurrency: 4 });
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => seen.length === 1);
  const end = Date.now() + 100;
  while (Date.now() < end);
  await queue.enqueue({ id: 'e2', jobId: 'j2' });
  await until(() => seen.includes('e2'));
  await quiet();
  t.same(seen, ['e1', 'e2']);
  open();
  await queue.close();
});

void t.test('an entry whose outcome could not be written is delivered again when its lease lapses', async (t) => {
  const { database, queue } = await openQueue(t, 100);
  const times: number[] = [];
  const handler: QueueHandler = async () => {
    times.push(Date.now());
    // A database that refuses every write, for the outcome of the first delivery.
    database.exec(`PRAGMA query_only = ${times.length === 1}`);
    // Runs after the outcome and before the next turn.
    setImmediate(() => database.exec('PRAGMA query_only = false'));
    return 'done';
  };
  queue.consume(handler, { concurrency: 1 });
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => times.length === 2);
  const waited = times[1]! - times[0]!;
  t.ok(waited >= 80 && waited < 900, `after ${waited} ms, not by the retry of a failed turn`);
  await quiet();
  await quiet();
  t.equal(times.length, 2);
});

void t.test('a turn that fails is tried again', async (t) => {
  const { database, queue } = await openQueue(t, 10_000);
  const seen: string[] = [];
  const handler: QueueHandler = async ({ id }) => {
    seen.push(id);
    return 'done';
  };
  queue.consume(handler, { concurrency: 1 });
  await quiet();
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  database.exec('PRAGMA query_only = true');
  await quiet();
  t.same(seen, []);
  database.exec('PRAGMA query_only = false');
  await until(() => seen.length > 0, 5000);
  t.same(seen, ['e1']);
});

void t.test('entries of the same time come in the order in which they were added', async (t) => {
  const { queue } = await openQueue(t, 10_000);
  const ids = Array.from({ length: 30 }, (_, index) => `e${(index * 7) % 30}`);
  for (const id of ids) await queue.enqueue({ id, jobId: 'j' });
  const seen: string[] = [];
  queue.consume(
    async ({ id }) => {
      seen.push(id);
      return 'done';
    },
    { concurrency: 1 },
  );
  await until(() => seen.length === ids.length);
  t.same(seen, ids);
});

void t.test('an undelayed entry does not wait for a timer', async (t) => {
  const { queue } = await openQueue(t, 10_000);
  let turns = 0;
  let delivered = 0;
  queue.consume(
    async () => {
      delivered = turns;
      return 'done';
    },
    { concurrency: 1 },
  );
  await quiet();
  const count = () => {
    turns += 1;
    if (delivered === 0) setImmediate(count);
  };
  setImmediate(count);
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => delivered > 0);
  t.ok(delivered <= 3, `delivered in turn ${delivered} of the event loop`);
});

void t.test('handlers that return at once leave the event loop its turns', async (t) => {
  const { queue } = await openQueue(t, 10_000);
  let deliveries = 0;
  queue.consume(
    async () => {
      deliveries += 1;
      return { delayMs: 0 };
    },
    { concurrency: 1 },
  );
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => deliveries > 20);
  t.pass('a timer fired although there was always something to deliver');
  await queue.close();
});

void t.test('an idle queue asks the database nothing', async (t) => {
  const { database, queue } = await openQueue(t, 10_000);
  queue.consume(async () => 'done', { concurrency: 1 });
  await queue.enqueue({ id: 'far', jobId: 'j' }, { delayMs: 10_000_000_000 });
  await quiet();
  const asked = countStatements(database);
  await quiet();
  t.equal(asked(), 0);
  await queue.enqueue({ id: 'near', jobId: 'j' });
  t.ok(asked() > 0, 'the count would have told');
});

void t.test('a queue without a free slot asks the database nothing', async (t) => {
  const { database, queue } = await openQueue(t, 10_000);
  const { passed, open } = gate();
  let started = false;
  const handler: QueueHandler = async () => {
    started = true;
    await passed;
    return 'done';
  };
  queue.consume(handler, { concurrency: 1 });
  for (const id of ['held', 'due']) await queue.enqueue({ id, jobId: 'j' });
  await until(() => started);
  await quiet();
  const asked = countStatements(database);
  await quiet();
  t.equal(asked(), 0);
  open();
  await until(() => asked() > 0);
  await queue.close();
});

void t.test('what a dead process held is free at once when the database is opened', async (t) => {
  const { database, queue, path } = await openQueue(t, 60_000);
  queue.consume(() => new Promise(() => {}), { concurrency: 1 });
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  const held = database.prepare('SELECT count(*) AS count FROM queue WHERE owner IS NOT NULL');
  await until(() => held.get()?.['count'] === 1);
  queue.abandon();
  database.close();
  const store = sqliteKvStore({ path, durability: 'process', clock });
  t.teardown(store.close);
  const seen: string[] = [];
  store.queue().consume(
    async ({ id }) => {
      seen.push(id);
      return 'done';
    },
    { concurrency: 1 },
  );
  await until(() => seen.length > 0, 5000);
  t.same(seen, ['e1']);
});

void t.test('the queue of a store is always the same', async (t) => {
  const path = join(await temporaryDirectory(t), 'sluice.db');
  const store = sqliteKvStore({ path, durability: 'process', clock });
  t.equal(store.queue(), store.queue());
  const queue = store.queue();
  await store.close();
  await t.rejects(queue.ping(), { code: 'UNAVAILABLE' });
  await t.rejects(queue.enqueue({ id: 'e1', jobId: 'j1' }), { code: 'UNAVAILABLE' });
});
