/**
 * One writer per upload in this process (WIRE 1, rule 5). A writer is asked to stop, never waited for by polling: it
 * commits what is durable and lets go. What keeps writers of other processes apart is the version of the record.
 */
import { ServiceError } from '../domain/errors.ts';

/** Why a writer must stop: a HEAD or DELETE has displaced it, or the service drains. */
export type StopReason = 'displaced' | 'draining';

export interface Writer {
  /** Aborted with a `StopReason` when the writer must commit and let go. */
  readonly stopped: AbortSignal;
  release(): void;
}

export interface Owners {
  /** Resolves when this request is the only writer; waits for another one up to `waitMs`, then `UPLOAD_LOCKED`. */
  acquire(id: string): Promise<Writer>;
  /** Stops the writer of this upload and waits until it has let go. */
  displace(id: string): Promise<void>;
  /** Stops all writers and refuses new ones. */
  drain(): Promise<void>;
}

export const createOwners = (options: { readonly waitMs: number }): Owners => {
  const held = new Map<string, Held>();
  let draining = false;

  const take = (id: string): Writer => {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const controller = new AbortController();
    held.set(id, { controller, released });
    const release = () => {
      held.delete(id);
      resolve();
    };
    return { stopped: controller.signal, release };
  };

  const stop = async (id: string, reason: StopReason): Promise<void> => {
    const writer = held.get(id);
    writer?.controller.abort(reason);
    await writer?.released;
  };

  return {
    async acquire(id) {
      const deadline = performance.now() + options.waitMs;
      for (let writer = held.get(id); writer !== undefined; writer = held.get(id)) {
        await within(writer.released, deadline - performance.now());
      }
      if (draining) throw drainingError();
      return take(id);
    },
    displace: (id) => stop(id, 'displaced'),
    async drain() {
      draining = true;
      await Promise.all([...held.keys()].map((id) => stop(id, 'draining')));
    },
  };
};

interface Held {
  readonly controller: AbortController;
  readonly released: Promise<void>;
}

/** What a request is told while the service drains: its bytes are kept, another replica takes the rest. */
export const drainingError = (): ServiceError =>
  new ServiceError('UNAVAILABLE', 'The service is shutting down', { retryAfter: 1 });

const within = async (released: Promise<void>, ms: number): Promise<void> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ServiceError('UPLOAD_LOCKED', undefined, { retryAfter: 1 })), ms);
  await Promise.race([released, late]).finally(() => clearTimeout(timer));
};
