/** Looks once at how the server is set up. */
import type { Redis } from 'ioredis';
import { StartError } from '../../start-error.ts';
import { list, text } from './replies.ts';

const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];

export interface CheckOptions {
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly onDebug?: ((text: string) => void) | undefined;
}

/**
 * Throws when it is a cluster: there one script cannot change a record and the counters of its client. Warns of what
 * would lose data, as far as the user may know it: INFO says all that CONFIG would, and is denied less often.
 */
export const checkServer = async (client: Redis, { onWarning, onDebug }: CheckOptions): Promise<void> => {
  const info = await client.info().catch((error: unknown) => {
    if (!(error instanceof Error && error.message.startsWith('NOPERM'))) throw error;
    onDebug?.(`Redis does not say whether it keeps what it acknowledges: ${error.message}`);
    return '';
  });
  if (info === '' ? await isCluster(client) : field(info, 'cluster_enabled') === '1') {
    throw new StartError('REDIS_URL names a Redis Cluster; Sluice needs a standalone Redis, or one behind Sentinel');
  }
  if (field(info, 'aof_enabled') === '0') {
    onWarning?.('Redis has no append-only file: when it dies, it forgets what it has acknowledged. Set appendonly yes');
  }
  const policy = field(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    onWarning?.(`Redis throws keys away when its memory is full (${policy}). Set maxmemory-policy noeviction`);
  }
};

/** HELLO is denied to nobody who may connect. */
const isCluster = async (client: Redis): Promise<boolean> => {
  const facts = list(await client.call('HELLO'));
  return text(facts[facts.indexOf('mode') + 1]) === 'cluster';
};
