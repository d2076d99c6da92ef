/** One byte range of a file (RFC 9110, section 14). */
import { ServiceError } from '../domain/errors.ts';

export interface Range {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * The range that the header asks for; `undefined` for the whole file: no header, another unit, a malformed one, or
 * several ranges, all of which a server may ignore. Throws `RANGE_NOT_SATISFIABLE` when it lies outside.
 */
export const parseRange = (header: string | undefined, size: number): Range | undefined => {
  const match = /^bytes=(\d{0,16})-(\d{0,16})$/.exec(header?.trim() ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (start < end) return { start, end };
  throw new ServiceError('RANGE_NOT_SATISFIABLE', undefined, { details: { contentRange: `bytes */${size}` } });
};
