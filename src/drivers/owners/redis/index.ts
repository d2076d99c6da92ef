/**
 * Ownership of uploads over all replicas: a lease in Redis per upload that is held.
 *
 * `leases` holds the scripts, `held` what this process owns, `channel` and `messages` are how replicas tell each other.
 * Within the process nobody is asked over the network. Where a message may have been lost, the renewal of the lease
 * (for the owner) and its end (for those who wait) do the same work later. See docs/decisions/012.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { ServiceError } from '../../../domain/errors.ts';
import type { Owners } from '../../../ports/owners.ts';
import { prefixOf, type RedisAddress } from '../../redis.ts';
import { openChannel } from './channel.ts';
import { type Held, hold } from './held.ts';
import { createLeases, type Leases, lease } from './leases.ts';
import type { Message } from './messages.ts';

export interface RedisOwnersOptions {
  readonly address: RedisAddress;
  /** Sends the commands; it stays its owner's. */
  readonly client: Redis;
  /** The key of the record of an upload: its version is raised when an owner has gone without a word. */
  readonly record: (id: string) => string;
}

export interface RedisOwners extends Owners {
  /**
   * A write of the record of this upload was not answered, and may yet come. Who owns it here will go without a word:
   * then whoever is next raises the version, and it comes too late.
   */
  doubt(id: string): void;
  /** Resolves once this replica can be told. */
  readonly opened: Promise<void>;
  /** Renews nothing any more and hears nothing; what is still owned lapses. */
  close(): void;
}

export const redisOwners = ({ address, client, record }: RedisOwnersOptions): RedisOwners => {
  const replica = randomUUID();
  const prefix = prefixOf(address);
  const name = `${prefix}:owners:${replica}`;
  const leases = createLeases({ client, prefix, channel: name, record });
  const held = new Map<string, Held>();
  const doubted = new WeakSet<Held>();
  const waiters = createWaiters();
  const channel = openChannel(address, name, (message) => tell(message, held, waiters));
  const timer = setInterval(() => void renew(held, leases), lease / 3);
  let draining = false;
  let claims = 0;

  const refuseWhenDraining = (): void => {
    if (draining) throw new ServiceError('UNAVAILABLE', 'The service is shutting down', { retryAfter: 1 });
  };
  const release = async (one: Held): Promise<void> => {
    if (held.get(one.id) === one) held.delete(one.id);
    // When Redis cannot be told, the lease lapses.
    if (!doubted.has(one)) await leases.release(one).catch(() => {});
  };

  return {
    opened: channel.opened,
    take: async (id) => {
      refuseWhenDraining();
      if (held.has(id)) return undefined;
      claims += 1;
      const claim = { id, token: `${replica}:${claims}` };
      if (!(await leases.take(claim))) return undefined;
      const one: Held = hold(claim, () => release(one));
      // A drain that has begun meanwhile does not know of this one.
      if (draining) await release(one);
      refuseWhenDraining();
      held.set(id, one);
      return one.owner;
    },
    free: async (id, { ask, waitMs }) => {
      const one = held.get(id);
      claims += 1;
      const who = `${replica}:${claims}`;
      if (one === undefined) return freeElsewhere(leases, waiters, { type: 'ask', id, ask, who, waitMs });
      if (ask === 'now') one.stop('displaced');
      one.await(who, waitMs);
      return within(one.released, waitMs).finally(() => one.await(who, 0));
    },
    doubt: (id) => {
      const one = held.get(id);
      if (one !== undefined) doubted.add(one);
    },
    drain: async () => {
      draining = true;
      const all = [...held.values()];
      for (const one of all) one.stop('draining');
      await Promise.all(all.map(({ released }) => released));
    },
    close: () => {
      clearInterval(timer);
      channel.close();
    },
  };
};

/** Those of this process who wait for an upload that another one owns. */
const createWaiters = () => {
  const waiting = new Map<string, Set<() => void>>();
  return {
    /** To be called before anybody is asked, so that the answer cannot come too early. */
    add: (id: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const ofId = waiting.get(id) ?? new Set();
      waiting.set(id, ofId.add(resolve));
      return {
        /** Resolves with `true` when the upload is told to be free, with `false` after `ms`. */
        freed: (ms: number): Promise<boolean> => within(promise, ms),
        leave: (): void => {
          ofId.delete(resolve);
          if (ofId.size === 0 && waiting.get(id) === ofId) waiting.delete(id);
        },
      };
    },
    wake: (id: string): void => {
      for (const resolve of waiting.get(id) ?? []) resolve();
    },
  };
};

type Waiters = ReturnType<typeof createWaiters>;

const tell = (message: Message, held: ReadonlyMap<string, Held>, waiters: Waiters): void => {
  if (message.type === 'freed') {
    waiters.wake(message.id);
    return;
  }
  const one = held.get(message.id);
  one?.await(message.who, message.waitMs);
  if (message.ask === 'now') one?.stop('displaced');
};

/** Asks, and asks again when the lease that it was told of has ended: then its owner is gone, or has renewed it. */
const freeElsewhere = async (leases: Leases, waiters: Waiters, ask: Message & { type: 'ask' }): Promise<boolean> => {
  const end = performance.now() + ask.waitMs;
  const left = (): number => Math.max(Math.ceil(end - performance.now()), 0);
  const waiter = waiters.add(ask.id);
  try {
    do {
      const holds = await leases.ask({ ...ask, waitMs: left() });
      if (holds === 0 || (await waiter.freed(Math.min(holds + 1, left())))) return true;
    } while (left() > 0);
  } finally {
    waiter.leave();
  }
  // A farewell, which may be lost: the owner counts nobody beyond the time that it was told.
  void leases.ask({ ...ask, ask: 'wait', waitMs: 0 }).catch(() => {});
  return false;
};

const renew = async (held: ReadonlyMap<string, Held>, leases: Leases): Promise<void> => {
  const all = [...held.values()];
  if (all.length === 0) return;
  try {
    const results = await leases.renew(all);
    for (const [index, one] of all.entries()) if (results[index] !== 'held') one.stop('displaced');
  } catch {
    // Redis does not answer. Whoever commits meets the same error, and says so.
  }
};

const within = async (done: Promise<void>, ms: number): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  return Promise.race([done.then(() => true), late]).finally(() => clearTimeout(timer));
};
