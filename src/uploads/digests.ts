/**
 * The SHA-256 of uploads with a declared checksum, as far as this process has seen all their bytes. A hash cannot
 * outlive its process: an upload that was continued elsewhere is read back once instead (DESIGN 3).
 */
import { createHash, type Hash } from 'node:crypto';

/** Uploads whose hash is kept between two requests; the oldest goes, and that upload is read back. */
const capacity = 10_000;

export interface Digests {
  /** A hash of the bytes `[0, offset)` to go on with; `undefined` when they were not all seen here. */
  resume(id: string, offset: number): Hash | undefined;
  /** The hash of the bytes `[0, offset)`, from which the next body goes on. */
  keep(id: string, offset: number, hash: Hash): void;
  forget(id: string): void;
}

export const createDigests = (): Digests => {
  const kept = new Map<string, { readonly offset: number; readonly hash: Hash }>();
  return {
    resume: (id, offset) => {
      if (offset === 0) return createHash('sha256');
      const known = kept.get(id);
      // A copy: a body that is rolled back leaves the hash as it was.
      return known?.offset === offset ? known.hash.copy() : undefined;
    },
    keep: (id, offset, hash) => {
      kept.delete(id);
      kept.set(id, { offset, hash });
      if (kept.size <= capacity) return;
      const [oldest = ''] = kept.keys();
      kept.delete(oldest);
    },
    forget: (id) => void kept.delete(id),
  };
};
