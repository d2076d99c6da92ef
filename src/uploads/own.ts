/** Becoming the writer of an upload (WIRE 1, rule 5). */
import { ServiceError } from '../domain/errors.ts';
import type { Owner, Owners } from '../ports/owners.ts';

/** How long a request waits for the writer before it, milliseconds (WIRE 1, rule 5). */
const waitMs = 5000;

/** `now` displaces a running writer, `wait` waits for it and takes over when it falls silent. */
export type Ask = 'now' | 'wait';

interface Steps<C, T> {
  readonly check: (waited: boolean) => Promise<C>;
  readonly work: (owner: Owner, checked: C) => Promise<T>;
}

/**
 * Owns the upload while `work` runs, which lets go by itself when it need not hold it any longer. `check` reads the
 * record and throws when the request cannot succeed (any more): before the first wait and after each one.
 * Errors: those of `check` and `work`, `UPLOAD_LOCKED` after five seconds, `UNAVAILABLE` while draining.
 */
export const asOwner = async <C, T>(owners: Owners, id: string, ask: Ask, { check, work }: Steps<C, T>): Promise<T> => {
  const deadline = performance.now() + waitMs;
  for (let waited = false; ; waited = true) {
    const owner = await owners.take(id);
    try {
      const checked = await check(waited);
      if (owner !== undefined) return await work(owner, checked);
    } finally {
      owner?.release();
    }
    await freed(owners, id, ask, deadline - performance.now());
  }
};

/** Stops a running writer and resolves once it has let go. Errors: `UPLOAD_LOCKED` when it does not in five seconds. */
export const displace = (owners: Owners, id: string): Promise<void> => freed(owners, id, 'now', waitMs);

const freed = async (owners: Owners, id: string, ask: Ask, ms: number): Promise<void> => {
  if (ms > 0 && (await owners.free(id, { ask, waitMs: ms }))) return;
  throw new ServiceError('UPLOAD_LOCKED', undefined, { retryAfter: 1 });
};
