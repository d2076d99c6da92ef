/** The owners of uploads as Redis keeps them: a hash per upload that is held, and the scripts that change it. */
import type { Redis } from 'ioredis';
import { answer, script } from '../../redis.ts';
import { encode, type Message } from './messages.ts';

/** Milliseconds: for so long a dead replica keeps its uploads, and a live one may be silent. */
export const lease = 3000;
/** Milliseconds for which the key of a dead owner stays, so that whoever comes next knows of it. */
const afterlife = 24 * 3_600_000;

export interface Claim {
  readonly id: string;
  /** Of this one claim: whoever claims the upload next has another. */
  readonly token: string;
}

type Command = (...args: (string | number)[]) => Promise<unknown>;

type Scripts = Record<'sluiceTake' | 'sluiceRenew' | 'sluiceAsk' | 'sluiceRelease', Command>;

const define = (client: Redis): Redis & Scripts => {
  client.defineCommand('sluiceTake', { lua: script('owners/redis/take.lua'), numberOfKeys: 2 });
  client.defineCommand('sluiceRenew', { lua: script('owners/redis/renew.lua') });
  client.defineCommand('sluiceAsk', { lua: script('owners/redis/ask.lua'), numberOfKeys: 2 });
  client.defineCommand('sluiceRelease', { lua: script('owners/redis/release.lua'), numberOfKeys: 1 });
  return client as Redis & Scripts;
};

export interface LeasesOptions {
  readonly client: Redis;
  readonly prefix: string;
  /** Where this replica is told. */
  readonly channel: string;
  /** The key of the record of an upload. */
  readonly record: (id: string) => string;
}

export const createLeases = ({ client: connection, prefix, channel, record }: LeasesOptions) => {
  const client = define(connection);
  const keyOf = (id: string): string => `${prefix}:owner:${id}`;
  const run = (work: () => Promise<unknown>): Promise<unknown> => answer(client, work);

  return {
    take: async ({ id, token }: Claim): Promise<boolean> =>
      (await run(() => client.sluiceTake(keyOf(id), record(id), token, channel, lease, afterlife))) === 1,
    /** What has become of each claim: `held`, `lost`, or `now` when it must be let go. */
    renew: async (claims: readonly Claim[]): Promise<readonly unknown[]> => {
      const keys = claims.map(({ id }) => keyOf(id));
      const tokens = claims.map(({ token }) => token);
      const results = await run(() => client.sluiceRenew(keys.length, ...keys, lease, afterlife, ...tokens));
      return results as unknown[];
    },
    /** Tells the owner; for how long its lease still holds, milliseconds, 0 when there is none. */
    ask: async (message: Message & { readonly type: 'ask' }): Promise<number> => {
      const ask = message.ask === 'now' ? 'now' : '';
      const keys = [keyOf(message.id), record(message.id)];
      return Number(await run(() => client.sluiceAsk(...keys, channel, encode(message), ask, afterlife)));
    },
    release: async ({ id, token }: Claim): Promise<void> => {
      await run(() => client.sluiceRelease(keyOf(id), token, encode({ type: 'freed', id })));
    },
  };
};

export type Leases = ReturnType<typeof createLeases>;
