/** Which replicas may run beside each other. */
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { joinReplicas, type ReplicaOptions } from '../../../../src/drivers/replicas/redis/index.ts';
import { StartError } from '../../../../src/drivers/start-error.ts';
import { clean, freshAddress, skip } from '../../../support/redis.ts';
import { until } from '../../../support/wait.ts';

/** Shorter than in service, so that a refusal costs a test less than a second. */
const lease = 300;

const prepare = (t: Test) => {
  const address = freshAddress();
  const refusals: StartError[] = [];
  t.teardown(() => clean(address));
  const client = new Redis(address.url);
  t.teardown(() => client.disconnect());
  const join = async (options: Partial<ReplicaOptions> = {}) => {
    const onRefused = (error: StartError) => refusals.push(error);
    const replica = await joinReplicas({ ...address, files: 'd1', shared: false, lease, onRefused, ...options });
    t.teardown(() => replica.leave());
    return replica;
  };
  return { join, refusals, client, key: `${address.prefix}:replicas` };
};

t.test('one replica has its directory to itself', { skip }, async (t) => {
  const { join, refusals } = prepare(t);
  const first = await join();
  t.same(await first.live(), [first.id]);
  const second = join();
  await t.rejects(second, StartError);
  await t.rejects(second, /in the same DATA_DIR.*DATA_DIR_SHARED=on/);
  await t.rejects(join({ shared: true }), /DATA_DIR_SHARED=on/, 'both must say so');
  t.same(refusals, [], 'the one that was there first hears nothing of it');
});

t.test('several that share a directory have said so, all of them', { skip }, async (t) => {
  const { join } = prepare(t);
  const [first, second] = [await join({ shared: true }), await join({ shared: true })];
  t.same([...(await first.live())].sort(), [first.id, second.id].sort());
  await t.rejects(join(), /DATA_DIR_SHARED=on/);
  await second.leave();
  t.same(await first.live(), [first.id]);
});

t.test('replicas with other directories are refused, whatever they say of them', { skip }, async (t) => {
  const { join } = prepare(t);
  await join({ shared: true });
  for (const shared of [true, false]) {
    await t.rejects(join({ files: 'd2', shared }), /files in another directory.*DATA_DIR.*REDIS_KEY_PREFIX/);
  }
  t.ok(await join({ files: 'd2', prefix: freshAddress().prefix }), 'unless they have names of their own');
});

t.test('one that has left makes room at once, one that has died when its lease ends', { skip }, async (t) => {
  const { join, client, key } = prepare(t);
  const first = await join({ lease: 60_000 });
  await first.leave();
  const second = await join({ lease: 60_000 });
  t.same(await second.live(), [second.id]);
  await second.leave();
  const [seconds, micros] = (await client.time()) as unknown as [string, string];
  const now = Number(seconds) * 1000 + Number(micros) / 1000;
  await client.zadd(key, now + lease, 'dead d2 alone');
  const third = await join();
  t.same(await third.live(), [third.id]);
});

t.test('a lease is renewed for as long as the replica lives', { skip }, async (t) => {
  const { join, client, key } = prepare(t);
  const { id } = await join();
  const until1 = await client.zscore(key, `${id} d1 alone`);
  await until(async () => Number(await client.zscore(key, `${id} d1 alone`)) > Number(until1) + 2 * lease);
  t.pass('three leases later it is there');
});

t.test('one that comes back after its lease and finds another one in its place is told', { skip }, async (t) => {
  const { join, refusals, client, key } = prepare(t);
  const first = await join();
  await client.multi().del(key).zadd(key, '+inf', 'other d2 alone').exec();
  await until(() => refusals.length > 0);
  t.match(refusals, [/another directory/]);
  t.ok(refusals[0] instanceof StartError);
  await t.rejects(first.live(), /another directory/);
});
