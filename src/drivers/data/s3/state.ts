/** What an upload record keeps for this driver between two PATCHes, and the sizes of parts. */
import type { Durable } from '../../../ports/data-store.ts';
import { broken } from './failures.ts';

/** A part that the server has acknowledged. A tuple: a record can hold thousands. */
export type Part = readonly [number: number, etag: string, size: number];

/** Bytes behind the parts that were too few for one; each lies in an object of its own until a part contains them. */
export type Tail = readonly [id: string, size: number];

export interface State {
  readonly uploadId?: string;
  readonly parts: readonly Part[];
  readonly tails: readonly Tail[];
  /** No writer has used this part number or one beyond it. */
  readonly next: number;
  /** Tails that are contained in a part of this state: whoever reads this may remove them. */
  readonly old: readonly string[];
  /** All bytes are in their final object. */
  readonly whole?: true;
}

const nothing: State = { parts: [], tails: [], next: 1, old: [] };

const sum = (pieces: readonly (readonly [...unknown[], number])[]): number =>
  pieces.reduce((total, piece) => total + (piece.at(-1) as number), 0);

/** Bytes of parts and tails. */
export const sizeOfParts = (parts: readonly Part[]): number =>
  sum(parts as readonly (readonly [...unknown[], number])[]);
export const sizeOfTails = (tails: readonly Tail[]): number => sum(tails);

/** The state of a record; one without bytes in parts and tails has all of them in the final object. */
export const readState = ({ offset, state }: Durable): State => {
  const read: State = { ...nothing, ...(state as Partial<State> | undefined | null) };
  if (read.whole || (offset > 0 && read.parts.length === 0 && read.tails.length === 0)) return { ...read, whole: true };
  if (sizeOfParts(read.parts) + sizeOfTails(read.tails) === offset) return read;
  throw broken(`The parts do not end at the offset ${offset}`);
};

/** As the record keeps it: an upload that needs nothing of this keeps nothing. */
export const writeState = ({ uploadId, parts, tails, next, old, whole }: State): unknown => {
  if (whole) return { whole };
  if (uploadId === undefined && tails.length === 0 && old.length === 0) return undefined;
  return {
    ...(uploadId === undefined ? {} : { uploadId, parts, next }),
    ...(tails.length === 0 ? {} : { tails }),
    ...(old.length === 0 ? {} : { old }),
  };
};

const mebibyte = 1_048_576;

/** Of the S3 API ("multipart upload limits"): the smallest part that is not the last one, and the most parts. */
export const smallestPart = 5 * mebibyte;
const mostParts = 10_000;

/** The size at which parts begin. */
export const firstPart = 8 * mebibyte;
/** An upload of unknown length doubles its parts after so many: 10 000 of them then hold more than S3 takes. */
const doubling = 1000;

/** Bytes of the part with this number, when `rest` bytes (`undefined`: nobody knows) are still to be sent. */
export const partSize = (number: number, rest: number | undefined): number => {
  if (rest === undefined) return firstPart * 2 ** Math.floor((number - 1) / doubling);
  const left = Math.max(1, mostParts - number + 1);
  return Math.max(firstPart, Math.ceil(rest / left / mebibyte) * mebibyte);
};

/** Whether a shorter part may be sent: parts of the first size must be able to hold what comes after it. */
export const mayBeShort = (number: number, rest: number | undefined): boolean =>
  rest === undefined ? number < mostParts / 2 : (mostParts - number) * firstPart >= rest;
