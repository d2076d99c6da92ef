/** What is found out about a body while it passes by: its type, the hash of its file, its own hash. */
import { createHash } from 'node:crypto';
import type { Body, UploadRecord } from '../domain/upload.ts';
import type { Digests } from './digests.ts';
import { Head } from './head.ts';

export interface Observer {
  add(chunk: Buffer): void;
  /** The body as it can be known again, if it has no offset. To be asked once. */
  body(length: number): Body | undefined;
  /** What the completion of a file of this size need not read it for. To be asked once. */
  known(size: number): { readonly head?: Buffer; readonly sha256?: string };
  /** The type, if the bytes that tell it have all passed; for the record. */
  type(): Promise<Partial<UploadRecord>>;
  /** Keeps what the observer of the next body, from `offset` on, goes on from. */
  keep(offset: number): void;
}

/** Hashes only where somebody will ask: for a declared checksum, and for a body without an offset (DESIGN 3). */
export const observe = (digests: Digests, upload: UploadRecord, withoutOffset: boolean): Observer => {
  const head = new Head(upload.offset === 0);
  const whole = upload.checksum === undefined ? undefined : digests.resume(upload.id, upload.offset);
  const own = withoutOffset ? createHash('sha256') : undefined;
  return {
    add: (chunk) => {
      head.add(chunk);
      whole?.update(chunk);
      own?.update(chunk);
    },
    body: (length) => own && { length, sha256: own.digest('hex') },
    known: (size) => ({ ...head.known(size), ...(whole === undefined ? {} : { sha256: whole.digest('hex') }) }),
    type: () => head.type(),
    keep: (offset) => {
      if (whole !== undefined) digests.keep(upload.id, offset, whole);
    },
  };
};
