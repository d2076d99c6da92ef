/** The broadcaster over Redis: the port's suite, then what happens when its connections are lost. */
import { Redis } from 'ioredis';
import t from 'tap';
import { redisEvents } from '../../../../src/drivers/events/redis/index.ts';
import { testEventBroadcaster } from '../../../conformance/event-broadcaster.ts';
import { findRedis, startRedis } from '../../../services/redis.ts';
import { freshAddress, skip } from '../../../support/redis.ts';
import { quiet, until } from '../../../support/wait.ts';

if (skip) t.comment(skip);
else {
  testEventBroadcaster('redis', async () => {
    const address = freshAddress();
    const [driver, peer] = [redisEvents(address), redisEvents(address)];
    const teardown = async () => {
      await Promise.all([driver.close(), peer.close()]);
    };
    return { driver, peer, teardown };
  });
}

void t.test(
  'every listener is woken once its lost subscription is there again, and is woken from then on',
  { skip },
  async (t) => {
    const events = redisEvents(freshAddress());
    const client = new Redis(freshAddress().url);
    t.teardown(() => client.disconnect());
    t.teardown(events.close);
    const calls = new Map<string, number>();
    for (const id of ['a', 'b', 'c']) {
      await events.subscribe('jobs', id, () => void calls.set(id, (calls.get(id) ?? 0) + 1));
    }
    await quiet();
    t.equal(calls.size, 0);
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(() => calls.size === 3, 2000);
    await quiet();
    t.same([...calls.values()], [1, 1, 1]);
    await events.notify('jobs', 'b');
    await until(() => calls.get('b') === 2, 2000);
  },
);

void t.test('nothing is lost while the connection is cut over and over', { skip }, async (t) => {
  const address = freshAddress();
  const [watching, telling] = [redisEvents(address), redisEvents(address)];
  const client = new Redis(address.url);
  t.teardown(() => client.disconnect());
  t.teardown(() => Promise.all([watching.close(), telling.close()]));
  let written = 0;
  let read = 0;
  await watching.subscribe('jobs', 'a', () => {
    read = written;
  });
  for (; written < 300; written += 1) {
    if (written % 25 === 0) await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await telling.notify('jobs', 'a');
  }
  await until(() => read === written, 5000);
  t.equal(read, written);
});

void t.test(
  'who subscribes while Redis is away is refused, and who notifies too; later both work',
  { skip },
  async (t) => {
    const first = await startRedis(findRedis() ?? '');
    t.teardown(first.stop);
    const events = redisEvents({ url: first.url });
    t.teardown(events.close);
    let calls = 0;
    await events.subscribe('jobs', 'a', () => {
      calls += 1;
    });
    await first.stop();
    await t.rejects(
      events.subscribe('jobs', 'b', () => {}),
      { code: 'UNAVAILABLE', retryAfter: 1 },
    );
    await t.rejects(events.notify('jobs', 'a'), { code: 'UNAVAILABLE' });
    await t.rejects(events.ping(), { code: 'UNAVAILABLE' });
    const second = await startRedis(findRedis() ?? '', { port: first.port });
    t.teardown(second.stop);
    await until(() => calls > 0, 5000);
    t.ok(calls > 0, 'woken by the reconnection');
  },
);
