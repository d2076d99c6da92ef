/** The clock of the machine. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/ports/clock.ts';

export const realClock: Clock = { now: () => Date.now(), newId: () => randomBytes(16).toString('hex') };
