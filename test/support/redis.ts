/** A Redis for one test file, and names in it that no other test has. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import t from 'tap';
import type { RedisAddress } from '../../src/drivers/redis.ts';
import { getRedis } from '../services/redis.ts';

const service = await getRedis();
if (service !== undefined) t.teardown(service.stop);

/** Why tests over Redis are left out, if they are. */
export const skip = service === undefined ? 'no Redis, and TEST_SERVICES=embedded' : false;

/** An address with a prefix of its own; what is under it is removed by `clean`. */
export const freshAddress = (): RedisAddress & { readonly prefix: string } => ({
  url: service?.url ?? '',
  prefix: `test-${randomUUID()}`,
});

export const clean = async ({ url, prefix }: { readonly url: string; readonly prefix: string }): Promise<void> => {
  const client = new Redis(url);
  const keys = await client.keys(`${prefix}:*`);
  if (keys.length > 0) await client.unlink(...keys);
  client.disconnect();
};
