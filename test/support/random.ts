/** Chance that a seed decides, so that what it has found can be looked at again. */
import { createCipheriv } from 'node:crypto';

/** Numbers from 0 up to 1, the same for the same seed. */
export const dice = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Bytes that nobody could guess, the same for the same number. */
export const contentOf = (number: number, length: number): Buffer => {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(number >>> 0);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
};
