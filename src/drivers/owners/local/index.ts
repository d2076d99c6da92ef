/** Ownership within one process: enough where the records belong to one process too. */
import { ServiceError } from '../../../domain/errors.ts';
import type { Owner, Owners, StopReason } from '../../../ports/owners.ts';

interface Held {
  readonly owner: Owner;
  readonly released: Promise<void>;
  stop(reason: StopReason): void;
  /** Counts those who wait; the function it gives takes one off. */
  await(): () => void;
}

/** Owners for a single process. */
export const localOwners = (): Owners => {
  const held = new Map<string, Held>();
  let draining = false;

  return {
    take: async (id) => {
      if (draining) throw new ServiceError('UNAVAILABLE', 'The service is shutting down', { retryAfter: 1 });
      if (held.has(id)) return undefined;
      const one: Held = hold(() => held.get(id) === one && held.delete(id));
      held.set(id, one);
      return one.owner;
    },
    free: async (id, { ask, waitMs }) => {
      const one = held.get(id);
      if (one === undefined) return true;
      if (ask === 'now') one.stop('displaced');
      const leave = one.await();
      return within(one.released, waitMs).finally(leave);
    },
    drain: async () => {
      draining = true;
      const all = [...held.values()];
      for (const one of all) one.stop('draining');
      await Promise.all(all.map(({ released }) => released));
    },
  };
};

const hold = (onRelease: () => unknown): Held => {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  let stopped: StopReason | undefined;
  let awaited = 0;
  let stop = () => {};
  return {
    owner: {
      get stopped() {
        return stopped;
      },
      onStop: (listener) => {
        stop = listener;
      },
      isAwaited: () => awaited > 0,
      release: () => {
        onRelease();
        resolve();
      },
    },
    released,
    stop: (reason) => {
      if (stopped !== undefined) return;
      stopped = reason;
      stop();
    },
    await: () => {
      awaited += 1;
      return () => {
        awaited -= 1;
      };
    },
  };
};

const within = async (released: Promise<void>, waitMs: number): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), waitMs);
  return Promise.race([released.then(() => true), late]).finally(() => clearTimeout(timer));
};
