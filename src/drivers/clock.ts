/** The machine's time and randomness. */
import { randomFillSync } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';

/** Bytes of chance in an id. */
const chance = 10;

/** Random bytes are asked for in advance: the call costs as much for many as for a few. */
const pool = Buffer.alloc(400 * chance);
let used = pool.length;

const randomHex = (): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += chance;
  return pool.toString('hex', used - chance, used);
};

export const systemClock: Clock = {
  now: Date.now,
  newId: () => Date.now().toString(16).padStart(12, '0') + randomHex(),
};
