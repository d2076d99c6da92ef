/** The clock of the machine, and one that a test moves. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/ports/clock.ts';

export const realClock: Clock = { now: () => Date.now(), newId: () => randomBytes(16).toString('hex') };

/** Stands still, at a time of its own, until it is told to go on. */
export const movedClock = () => {
  let now = Date.parse('2026-11-20T12:00:00.000Z');
  const pass = (ms: number) => {
    now += ms;
  };
  return { ...realClock, now: () => now, pass };
};
