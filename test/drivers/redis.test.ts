/** What an address says, and what becomes of connections. */
import type { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { connect, disconnect, type RedisAddress, ready } from '../../src/drivers/redis.ts';
import { findRedis, startRedis } from '../services/redis.ts';
import { skip } from '../support/redis.ts';

const user = ['--user', 'ann', 'on', '>p@ss:/word', '~*', '&*', '+@all'];

const entering = async (t: Test, address: RedisAddress): Promise<Redis> => {
  const client = connect({ onError: () => {}, ...address });
  t.teardown(async () => disconnect(client));
  await ready(client, 5000);
  return client;
};

t.test('an address has a user, a password and a number of a database', { skip }, async (t) => {
  const server = await startRedis(findRedis() ?? '', { options: user });
  t.teardown(server.stop);
  const named = await entering(t, { url: server.url.replace('//', '//ann:p%40ss%3A%2Fword@').concat('/3') });
  t.equal(await named.call('ACL', 'WHOAMI'), 'ann');
  await named.set('where', 'here');
  const beside = await entering(t, { url: `${server.url}/3`, username: 'ann', password: 'p@ss:/word' });
  t.equal(await beside.get('where'), 'here');
  const first = await entering(t, { url: server.url });
  t.equal(await first.get('where'), null);
  t.equal(await first.call('ACL', 'WHOAMI'), 'default');
});

t.test('a name in IPv6 is understood', { skip }, async (t) => {
  const server = await startRedis(findRedis() ?? '', { options: ['--bind', '127.0.0.1', '::1'] });
  t.teardown(server.stop);
  const client = await entering(t, { url: `redis://[::1]:${server.port}` });
  t.equal(await client.ping(), 'PONG');
});

t.test('an outage is told once, and the next one again', { skip }, async (t) => {
  const server = await startRedis(findRedis() ?? '');
  t.teardown(server.stop);
  const errors: unknown[] = [];
  const client = await entering(t, { url: server.url, onError: (error) => errors.push(error) });
  for (const outages of [1, 2]) {
    client.emit('error', new Error('lost'));
    client.emit('error', new Error('still lost'));
    t.equal(errors.length, outages);
    const again = new Promise((resolve) => client.once('ready', resolve));
    client.disconnect(true);
    await again;
  }
});

t.test('who waits for a connection that does not come is told when the time is over', async (t) => {
  const client = connect({ url: 'redis://127.0.0.1:1', onError: () => {} });
  await t.rejects(ready(client, 50), { code: 'UNAVAILABLE', retryAfter: 1 });
  disconnect(client);
});
