/** One text for all JSON values that mean the same. */
import { ServiceError } from './errors.ts';

/** Levels of a value: more than any request needs, and few enough to be walked. */
const maxDepth = 64;

/**
 * The value as JSON with the members of every object in the order of their names; absent and `undefined` are the same.
 * Errors: `VALIDATION_ERROR` for a value of more levels than can be walked.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value, maxDepth));

const sorted = (value: unknown, levels: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw new ServiceError('VALIDATION_ERROR', `body has more than ${maxDepth} levels`);
  if (Array.isArray(value)) return value.map((one) => sorted(one, levels - 1));
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one, levels - 1)]));
};
