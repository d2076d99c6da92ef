/** Whether a body comes quickly enough, judged some times a second and without a look at the clock for each chunk. */

/** Milliseconds, and bytes per second. */
export interface Pace {
  /** A body that brings nothing for so long is given up. */
  readonly idleMs: number;
  /** The least that a body must bring in each stretch of `idleMs`, on average; 0: anything will do. */
  readonly minRate: number;
}

export type Verdict = 'idle' | 'slow' | 'silent';

/** A writer that is silent for so long gives way to one who waits (WIRE 1, rule 5). */
const silentMs = 2000;

const longestTick = 250;

/** Milliseconds between two judgements. */
export const tickMs = ({ idleMs }: Pace): number => Math.max(1, Math.min(longestTick, Math.floor(idleMs / 4)));

/**
 * To be called every `tickMs` with the bytes so far, or with `undefined` while it is not the client who is waited for:
 * such time does not count.
 */
export const createPace = (pace: Pace) => {
  const tick = tickMs(pace);
  let last = 0;
  let quietMs = 0;
  let stretchMs = 0;
  let stretchStart = 0;

  const isSlow = (bytes: number): boolean => {
    stretchMs += tick;
    if (stretchMs < pace.idleMs) return false;
    const slow = bytes - stretchStart < (pace.minRate * stretchMs) / 1000;
    stretchMs = 0;
    stretchStart = bytes;
    return slow;
  };
  return (bytes: number | undefined, awaited: boolean): Verdict | undefined => {
    quietMs = bytes === last ? quietMs + tick : 0;
    if (bytes === undefined) return undefined;
    last = bytes;
    if (quietMs >= pace.idleMs) return 'idle';
    if (awaited && quietMs >= silentMs) return 'silent';
    return isSlow(bytes) ? 'slow' : undefined;
  };
};
