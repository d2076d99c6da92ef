/** The machine's time and randomness. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';

export const systemClock: Clock = { now: Date.now, newId: () => randomBytes(16).toString('hex') };
