/** The queue of many replicas: the port's suite, then what locks are for. */
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { type BullmqQueue, type BullmqQueueOptions, bullmqQueue } from '../../../../src/drivers/queue/bullmq/index.ts';
import type { QueueHandler } from '../../../../src/ports/job-queue.ts';
import { testJobQueue } from '../../../conformance/job-queue.ts';
import { clean, freshAddress, skip } from '../../../support/redis.ts';
import { gate, quiet, until } from '../../../support/wait.ts';

/** Shorter than in service, so that the death of a holder costs a test one or two seconds. */
const times = { lock: 1000, stalled: 300 };

const openQueues = () => {
  const address = freshAddress();
  const client = new Redis(address.url, { maxRetriesPerRequest: 0 });
  const queues: BullmqQueue[] = [];
  const open = (settings: Partial<BullmqQueueOptions> = times): BullmqQueue => {
    const queue = bullmqQueue({ ...address, client, ...settings });
    queues.push(queue);
    return queue;
  };
  const teardown = async () => {
    for (const queue of queues) await queue.abandon();
    client.disconnect();
    await clean(address);
  };
  return { address, open, teardown };
};

const queuesOf = (t: Test) => {
  const { teardown, ...rest } = openQueues();
  t.teardown(teardown);
  return rest;
};

if (skip) t.comment(skip);
else {
  testJobQueue('bullmq', async () => {
    const { open, teardown } = openQueues();
    const driver = open();
    const crash = async () => {
      await driver.abandon();
      return open();
    };
    return { driver, peer: open(), crash, teardown };
  });
}

void t.test('a lock is renewed for as long as its handler runs', { skip }, async (t) => {
  const { open } = queuesOf(t);
  const [queue, peer] = [open(), open()];
  const { passed, open: go } = gate();
  let deliveries = 0;
  const handler: QueueHandler = async () => {
    deliveries += 1;
    await passed;
    return 'done';
  };
  for (const one of [queue, peer]) one.consume(handler, { concurrency: 2 });
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => deliveries === 1);
  for (let round = 0; round < 20; round += 1) await quiet();
  t.equal(deliveries, 1, 'three locks later');
  go();
  await Promise.all([queue.close(), peer.close()]);
});

void t.test('nothing is left of an entry that is done', { skip }, async (t) => {
  const { address, open } = queuesOf(t);
  const queue = open();
  let done = 0;
  queue.consume(
    async () => {
      done += 1;
      return done === 1 ? { delayMs: 10 } : 'done';
    },
    { concurrency: 1 },
  );
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => done === 2);
  await queue.close();
  const client = new Redis(address.url);
  t.teardown(() => client.disconnect());
  const keys = (await client.keys(`${address.prefix}:*`)).map((key) => key.slice(address.prefix.length + 7));
  t.same(
    keys.filter((key) => !['id', 'meta', 'events', 'marker', 'stalled-check'].includes(key)),
    [],
  );
});

void t.test(
  'a process that stood still for longer than the lock harms nobody, and nothing is thrown or told',
  { skip },
  async (t) => {
    const { open } = queuesOf(t);
    const errors: unknown[] = [];
    const queue = open({ lock: 200, stalled: 100, onError: (error) => errors.push(error) });
    const { passed, open: go } = gate();
    const seen: string[] = [];
    const handler: QueueHandler = async ({ id }) => {
      seen.push(id);
      if (seen.length === 1) await passed;
      return 'done';
    };
    queue.consume(handler, { concurrency: 2 });
    await queue.enqueue({ id: 'e1', jobId: 'j1' });
    await until(() => seen.length === 1);
    const end = Date.now() + 700;
    while (Date.now() < end);
    await quiet();
    go();
    await queue.enqueue({ id: 'e2', jobId: 'j2' });
    await until(() => seen.includes('e2'));
    await queue.close();
    t.ok(seen.filter((id) => id === 'e1').length <= 2, 'twice at most: the epoch of the record decides');
    t.strictSame(errors, [], 'and nobody need hear of it');
  },
);

void t.test('entries come again after the connections were cut', { skip }, async (t) => {
  const { address, open } = queuesOf(t);
  const queue = open();
  const seen: string[] = [];
  queue.consume(
    async ({ id }) => {
      seen.push(id);
      return 'done';
    },
    { concurrency: 1 },
  );
  await queue.enqueue({ id: 'e1', jobId: 'j1' });
  await until(() => seen.length === 1);
  const client = new Redis(address.url);
  t.teardown(() => client.disconnect());
  await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await quiet();
  await until(
    () =>
      queue.enqueue({ id: 'e2', jobId: 'j1' }).then(
        () => true,
        () => false,
      ),
    3000,
  );
  await until(() => seen.includes('e2'), 8000);
  t.same(seen, ['e1', 'e2']);
});
