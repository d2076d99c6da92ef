/**
 * Asks several times, each time with a watch. The SDK's own retries are off: it cannot send a stream again, and its
 * time limits do not tell a slow part from a stalled one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from './failures.ts';

/** One try. */
export interface Try {
  readonly signal: AbortSignal;
  /** Something has moved: the time that may pass without that begins anew. */
  touch(): void;
  /** Ends it, as if the connection had broken. */
  abort(): void;
}

export interface Attempts {
  readonly tries: number;
  /** Milliseconds in which something must move. */
  readonly idleMs: number;
  /** The same while the server puts the parts of an upload together. */
  readonly completeMs: number;
  /** Milliseconds before the second try, doubling, with full jitter. */
  readonly delayMs: number;
}

/** About ten seconds in all when the server refuses at once (`reference/reliability.md`, F24). */
export const defaultAttempts: Attempts = { tries: 5, idleMs: 20_000, completeMs: 120_000, delayMs: 200 };

export type Ask = <T>(work: (one: Try) => Promise<T>, stop?: AbortSignal) => Promise<T>;

/** Runs the work until it succeeds, fails for good, or has failed often enough. `stop` ends it at once. */
export const createAsk =
  ({ tries, idleMs, delayMs }: Omit<Attempts, 'completeMs'>): Ask =>
  async (work, stop) => {
    for (let count = 1; ; count += 1) {
      try {
        return await watched(work, idleMs, stop);
      } catch (error) {
        if (count === tries || stop?.aborted || !isPassing(error)) throw error;
      }
      await sleep(Math.random() * delayMs * 2 ** count, undefined, stop === undefined ? {} : { signal: stop });
    }
  };

const watched = async <T>(work: (one: Try) => Promise<T>, idleMs: number, stop?: AbortSignal): Promise<T> => {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, idleMs);
  if (stop?.aborted) abort();
  stop?.addEventListener('abort', abort, { once: true });
  try {
    return await work({ signal: controller.signal, touch: () => timer.refresh(), abort });
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', abort);
  }
};
