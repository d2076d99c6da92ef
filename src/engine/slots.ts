/** What there is only so much of in this process, shared out among the jobs that run here: workers, and places. */

/** Gives a slot back; a second time does nothing. */
export type Release = () => void;

export interface Slots {
  /** Resolves when one is free, in the order of asking; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<Release>;
}

export const createSlots = (size: number): Slots => {
  // The oldest first.
  const waiting = new Set<() => void>();
  let free = size;

  const next = (): void => {
    const [first] = waiting;
    if (first === undefined || free === 0) return;
    waiting.delete(first);
    first();
  };
  const hold = (): Release => {
    free -= 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      free += 1;
      next();
    };
  };

  return {
    take: (signal) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<Release>();
      const start = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(hold());
      };
      const giveUp = () => {
        waiting.delete(start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp);
      waiting.add(start);
      next();
      return promise;
    },
  };
};
