/** The upload record, its states and the arithmetic of its offset (WIRE 1). */
import type { EventError, Sequenced } from './event.ts';

export type UploadStatus = 'created' | 'uploading' | 'finalizing' | 'completed' | 'failed' | 'cancelled';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The waiting input of a job that an upload feeds. */
export interface UploadFlow {
  readonly flowId: string;
  readonly nodeId: string;
  readonly jobId: string;
}

/** A body as it can be known again. */
export interface Body {
  /** Bytes. */
  readonly length: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Counters of one client; those of clients without an id are shared. */
export interface Usage {
  /** Uploads that have not settled. */
  readonly openUploads: number;
  /** Bytes in the data store, or promised to it: a known size counts from the creation until the bytes are removed. */
  readonly storedBytes: number;
}

/** As kept in the key-value store. Times are ISO 8601, sizes are bytes. */
export interface UploadRecord extends Sequenced {
  readonly id: string;
  readonly clientId?: string;
  readonly storageId: string;
  /** Where the bytes are in the data store. */
  readonly key: string;
  /** The bytes `[0, offset)` are durable. */
  readonly offset: number;
  /** Absent while the length is deferred. */
  readonly size?: number;
  readonly status: UploadStatus;
  /** As the client sent it, for display; `domain/file-name` makes a safe one of it. */
  readonly fileName: string;
  /** The type that the client declared, a claim only. */
  readonly type: string;
  /** The type that the first bytes show; absent when they show none (text, for example). */
  readonly detectedType?: string;
  /** The first bytes have been looked at. */
  readonly sniffed?: true;
  readonly custom: { readonly [key: string]: JsonValue };
  /** Lower-case hex SHA-256 that the client declared. */
  readonly checksum?: string;
  readonly flow?: UploadFlow;
  /** What the data store needs to continue this upload; only its driver knows the shape. */
  readonly sink?: unknown;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Why it failed or was cancelled. */
  readonly error?: EventError;
  /** The last body, if it came without an offset and the answer to it is known not to have arrived (WIRE 1, rule 3). */
  readonly undelivered?: Body | undefined;
  /** The bytes are gone. A completed upload loses them when its job needs them no longer. */
  readonly bytesRemoved?: true;
  /** While it can still grow: when it expires. Once it has failed or was cancelled: when it is forgotten. */
  readonly expiresAt?: string | undefined;
  /** What the counters of the client hold for this record: see `domain/quota`. */
  readonly counted?: Usage;
}

/** No more bytes can arrive and nothing about it will change. */
export const isSettled = (upload: UploadRecord): boolean =>
  upload.status === 'completed' || upload.status === 'failed' || upload.status === 'cancelled';

/** Whether all bytes are there, though perhaps not yet verified. */
export const isFull = (upload: UploadRecord): boolean => upload.size !== undefined && upload.offset === upload.size;

/** The type to trust: what the bytes show, else what was declared. */
export const mediaTypeOf = (upload: UploadRecord): string => upload.detectedType ?? upload.type;

/** The waiting job has not yet been told that this upload settled; recovery looks for these. */
export const mustTellJob = (upload: UploadRecord): boolean => upload.flow !== undefined && isSettled(upload);

/** An upload that has failed or was cancelled is remembered so long, milliseconds: it answers 410 (DESIGN 3). */
export const tombstoneMs = 24 * 3_600_000;

/** How long the record lasts if nothing more happens to it, milliseconds; `undefined`: no such limit. */
export const lifetimeOf = ({ status }: UploadRecord, ttl: number): number | undefined => {
  if (status === 'created' || status === 'uploading') return ttl;
  return status === 'failed' || status === 'cancelled' ? tombstoneMs : undefined;
};

/** Whether its time has come, be it to expire or to be forgotten. */
export const isPast = ({ expiresAt }: UploadRecord, now: number): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now;
