/**
 * Where bytes live. Keys are made by the service from ids, never by clients: segments of `[A-Za-z0-9._-]` joined by
 * `/`. The length of a stored file is never asked for while an upload runs: the offset is the key-value store's.
 *
 * Errors: a missing key is `FILE_NO_LONGER_EXISTS`, no room is `STORAGE_FULL`, a store that cannot be reached now is
 * `UNAVAILABLE`, all else is `STORAGE_ERROR`.
 */
import type { Readable } from 'node:stream';

/** What clients are told of a store (`GET /api/upload/capabilities`). */
export interface DataStoreCapabilities {
  readonly supportsParallelUploads: boolean;
  readonly supportsConcatenation: boolean;
  readonly supportsDeferredLength: boolean;
  readonly supportsResumableUploads: boolean;
  readonly supportsTransactionalUploads: boolean;
  readonly supportsStreamingRead: boolean;
  readonly supportsStreamingWrite: boolean;
  readonly requiresOrderedChunks: boolean;
  readonly maxConcurrentUploads: number;
  /** Bytes; a hint for the size of the parts of an upload, smaller and larger ones are taken too. */
  readonly minChunkSize: number;
  readonly optimalChunkSize: number;
  readonly maxChunkSize: number;
}

/** Bytes up to `offset` are in the store; `state` is what the driver needs to continue from there. */
export interface Durable {
  readonly offset: number;
  readonly state?: unknown;
}

/** One PATCH's way into the store. Calls are not concurrent, except that `write` may go on during `sync`. */
export interface Sink {
  /** Takes the chunk by reference. `false`: wait for `drained` before the next. */
  write(chunk: Buffer): boolean;
  /** Resolves when there is room again; rejects when a write has failed. */
  drained(): Promise<void>;
  /** Makes durable what it can without cutting anything off, and says how far that is. */
  sync(): Promise<Durable>;
  /** Writes and makes durable everything taken. `length`: the upload ends here, what lies beyond is cut off. */
  finish(options?: { readonly length?: number }): Promise<Durable>;
  /** Lets go. What was not made durable may be lost. */
  close(): Promise<void>;
}

export interface AppendOptions {
  /** Nobody looks at a chunk after `write`: the driver may give its memory back as soon as the chunk is written. */
  readonly owned?: boolean;
  /** Bytes of the whole file, where they are known. */
  readonly length?: number | undefined;
  /**
   * Has the record keep what the driver makes of the last `Durable` in it, before the driver goes on. Rejects when the
   * record is another writer's by now. Absent: nobody else writes.
   */
  readonly keep?: (change: (last: Durable) => Durable) => Promise<void>;
}

export interface SweepOptions {
  /** Milliseconds since 1970; what is younger may belong to a writer whose record is not written yet. */
  readonly before: number;
  /** What the record of an incomplete file keeps for the driver; `undefined`: there is none. */
  stateOf(key: string): Promise<unknown>;
}

/** What an answer to whoever follows the address says of the file. */
export interface PresignOptions {
  /** Seconds for which the address works, at most a week. */
  readonly expiresIn: number;
  readonly contentType: string;
  readonly contentDisposition: string;
}

export interface DataStore {
  /** The name of the driver, shown as `storage.type`. */
  readonly type: string;
  readonly capabilities: DataStoreCapabilities;
  /** Continues (or begins) a file at `offset`; what an earlier sink left beyond it is overwritten. */
  append(key: string, from: Durable, options?: AppendOptions): Promise<Sink>;
  /** The bytes `[start, end)`, to the end by default. */
  read(key: string, range?: { readonly start: number; readonly end: number }): Promise<Readable>;
  /** An address at the store itself, from which whoever has it can GET the file; absent where a store has none. */
  presign?(key: string, options: PresignOptions): Promise<string>;
  /** A path where a worker can read the whole file: its own place, or a copy in `directory` that has a name of its own. */
  materialize(key: string, directory: string): Promise<string>;
  /** Moves a finished local file to `key`, durable and all at once; an existing file there is replaced. */
  publish(key: string, path: string): Promise<void>;
  /** The keys that begin with `prefix`. */
  list(prefix: string): Promise<readonly string[]>;
  /** Removes the file; a missing one is no error. */
  remove(key: string): Promise<void>;
  /** Removes what sinks have left that no record knows of; absent where a store has nothing like that. */
  sweep?(options: SweepOptions): Promise<void>;
  /** A real round trip; throws when the store cannot answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
