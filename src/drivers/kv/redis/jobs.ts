/** The index of jobs: a sorted set per client and status, and per client, flow and status, and one per definition. `commit.lua` keeps them. */
import type { Redis } from 'ioredis';
import { jobStatuses } from '../../../domain/job.ts';
import type { JobFilter } from '../../../ports/kv-store.ts';
import { script } from '../../redis.ts';
import type { Keys } from './keys.ts';
import { texts } from './replies.ts';

interface Scripts {
  sluiceListJobs(keys: number, ...args: (string | number)[]): Promise<unknown>;
}

export const createJobs = (connection: Redis, keys: Keys) => {
  connection.defineCommand('sluiceListJobs', { lua: script('kv/redis/list-jobs.lua') });
  const client = connection as Redis & Scripts;

  return {
    isPinned: async (definitionHash: string): Promise<boolean> =>
      (await connection.exists(keys.byDefinition(definitionHash))) === 1,
    list: async ({
      clientId,
      statuses = jobStatuses,
      flowId,
      before,
      limit,
    }: JobFilter): Promise<readonly string[]> => {
      const lists = statuses.map((status) =>
        flowId === undefined ? keys.byStatus(clientId, status) : keys.byFlow(clientId, flowId, status),
      );
      if (lists.length === 0) return [];
      const from = before === undefined ? '+' : `(${before}`;
      const ids = texts(await client.sluiceListJobs(lists.length, ...lists, from, limit));
      return [...ids].sort().reverse().slice(0, limit);
    },
  };
};
