/** Waiting for something that another part does in its own time. */
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves once `reached` says so. Gives up after `limit` milliseconds, by default far beyond any healthy driver. */
export const until = async (reached: () => boolean | Promise<boolean>, limit = 20_000): Promise<void> => {
  const end = Date.now() + limit;
  while (!(await reached())) {
    if (Date.now() > end) throw new Error(`Nothing came within ${limit} ms`);
    await delay(5);
  }
};

/** Milliseconds in which something that must not happen would have happened. */
export const quiet = (): Promise<void> => delay(150);

/** A promise that is resolved from outside: holds something up until the test lets it go on. */
export const gate = (): { readonly passed: Promise<void>; open(): void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
};
