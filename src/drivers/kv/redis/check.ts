/** Looks once at how the server is set up. */
import type { Redis } from 'ioredis';

const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];

/**
 * Throws when it is a cluster: there one script cannot change a record and the counters of its client. Warns of what
 * would lose data.
 */
export const checkServer = async (client: Redis, warn: (text: string) => void): Promise<void> => {
  const info = await client.info();
  if (field(info, 'cluster_enabled') === '1') {
    throw new Error('REDIS_URL names a Redis Cluster; Sluice needs a standalone Redis, or one behind Sentinel');
  }
  if (field(info, 'aof_enabled') === '0') {
    warn('Redis has no append-only file: when it dies, it forgets what it has acknowledged. Set appendonly yes');
  }
  const policy = field(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    warn(`Redis throws keys away when its memory is full (${policy}). Set maxmemory-policy noeviction`);
  }
};
