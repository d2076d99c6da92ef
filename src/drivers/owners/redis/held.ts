/** What this process owns: who has asked for it, and whether it must be let go. */
import type { Owner, StopReason } from '../../../ports/owners.ts';
import type { Claim } from './leases.ts';

export interface Held extends Claim {
  readonly owner: Owner;
  /** Resolves once it has been let go, and others may know. */
  readonly released: Promise<void>;
  stop(reason: StopReason): void;
  /** Counts one who waits, for `waitMs` at most; 0 takes it off. */
  await(who: string, waitMs: number): void;
}

/** `letGo` is called once, and what it gives is waited for by those who want the upload. */
export const hold = (claim: Claim, letGo: () => Promise<void>): Held => {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  // Until when each of them waits: one who has died has not taken itself off.
  const waiting = new Map<string, number>();
  let stopped: StopReason | undefined;
  let gone = false;
  let listener = () => {};
  return {
    ...claim,
    owner: {
      get stopped() {
        return stopped;
      },
      onStop: (call) => {
        listener = call;
      },
      isAwaited: () => {
        const now = performance.now();
        return [...waiting.values()].some((until) => until > now);
      },
      release: () => {
        if (gone) return;
        gone = true;
        void letGo().finally(resolve);
      },
    },
    released,
    stop: (reason) => {
      if (stopped !== undefined || gone) return;
      stopped = reason;
      listener();
    },
    await: (who, waitMs) => {
      if (waitMs > 0) waiting.set(who, performance.now() + waitMs);
      else waiting.delete(who);
    },
  };
};
