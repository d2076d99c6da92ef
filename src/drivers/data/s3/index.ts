/**
 * Bytes in a bucket of any S3 server. A key is the name of an object, after the prefix of the store; an object appears
 * when its last byte is there, and what an incomplete upload needs to go on is in its record.
 *
 * `sink` takes the bytes of one PATCH, `pending` collects them, `ledger` knows what has come, `state` is what the
 * record keeps, `complete` ends multipart uploads, `budget` bounds the memory of all. `bucket` makes the requests, over
 * `attempts` and `client`; `reading` and `publish` move whole files, `presign` has others read them; `names` turns keys into names, `sweep` removes what
 * crashes have left, `failures` maps the answers of the server.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../../domain/errors.ts';
import type { DataStore, DataStoreCapabilities } from '../../../ports/data-store.ts';
import { type Attempts, createAsk, defaultAttempts } from './attempts.ts';
import { type Bucket, createBucket } from './bucket.ts';
import { type Budget, createBudget } from './budget.ts';
import { createClient } from './client.ts';
import { ensureBucket } from './ensure-bucket.ts';
import { isPassing, storeFailure } from './failures.ts';
import { createNames, type Names } from './names.ts';
import { createPresigner, type PresignConnection } from './presign.ts';
import { publishFile } from './publish.ts';
import { openObject } from './reading.ts';
import { S3Sink } from './sink.ts';
import { sweep } from './sweep.ts';

const capabilities: DataStoreCapabilities = {
  supportsParallelUploads: false,
  supportsConcatenation: false,
  supportsDeferredLength: true,
  supportsResumableUploads: true,
  supportsTransactionalUploads: false,
  supportsStreamingRead: true,
  supportsStreamingWrite: true,
  requiresOrderedChunks: true,
  maxConcurrentUploads: 1,
  minChunkSize: 5_242_880,
  optimalChunkSize: 8_388_608,
  maxChunkSize: 33_554_432,
};

export interface S3DataStoreOptions extends PresignConnection {
  /** Made when it is missing. */
  readonly bucket: string;
  /** Before the names of all objects; default: none. */
  readonly prefix?: string | undefined;
  /** All parts of an upload but its last have the same size, as Cloudflare's R2 asks for; default: no. */
  readonly equalParts?: boolean | undefined;
  /** The memory that uploads share; stores of one process may share one. */
  readonly budget?: Budget | undefined;
  /** How patient the driver is. */
  readonly attempts?: Partial<Attempts> | undefined;
}

/** Opens the bucket as a data store. A server that does not answer yet is asked again by every ping. */
export const s3DataStore = async (options: S3DataStoreOptions): Promise<DataStore> => {
  const attempts = { ...defaultAttempts, ...options.attempts };
  const client = createClient(options);
  const ask = createAsk(attempts);
  const askPatiently = createAsk({ ...attempts, idleMs: attempts.completeMs });
  const bucket = createBucket({ client, bucket: options.bucket, ask, askPatiently });
  const names = createNames(options.prefix ?? '');
  const presigner = createPresigner(options, options.bucket);
  const { idleMs } = attempts;
  const { budget = createBudget(), equalParts = false } = options;
  const sinkDeps = { bucket, names, budget, equalParts, idleMs };
  const once = createAsk({ ...attempts, tries: 1, idleMs: Math.min(idleMs, 5000) });
  const place = { client, bucket: options.bucket, region: options.endpoint === undefined ? options.region : undefined };
  await ensureBucket({ ...place, ask }).catch((error: unknown) => {
    if (!isPassing(error)) throw new Error(`The bucket "${options.bucket}" cannot be used: ${error}`, { cause: error });
  });

  return {
    type: 's3',
    capabilities,
    append: async (key, from, appendOptions = {}) => new S3Sink(sinkDeps, key, from, appendOptions),
    read: async (key, range) => read(bucket, names.object(key), range, idleMs),
    presign: async (key, presignOptions) => presigner.presign(names.object(key), presignOptions),
    materialize: async (key, directory) => materialize(bucket, names.object(key), directory, idleMs),
    publish: async (key, path) => publishFile(bucket, names.object(key), path).catch(throwFailure),
    list: async (prefix) => list(bucket, names, prefix).catch(throwFailure),
    remove: async (key) => remove(bucket, names, key).catch(throwFailure),
    sweep: async (sweepOptions) => sweep(bucket, names, sweepOptions).catch(throwFailure),
    ping: () => ensureBucket({ ...place, ask: once }).catch(throwFailure),
    close: async () => {
      client.destroy();
      presigner.close();
    },
  };
};

const throwFailure = (error: unknown): never => {
  throw isLocal(error) ? new ServiceError('STORAGE_ERROR', undefined, { cause: error }) : storeFailure(error);
};

/** Of the file system, not of the network. */
const isLocal = (error: unknown): boolean => error instanceof Error && 'path' in error;

const read = async (
  bucket: Bucket,
  name: string,
  range: { readonly start: number; readonly end: number } | undefined,
  idleMs: number,
): Promise<Readable> => {
  if (range === undefined || range.start < range.end) return openObject(bucket, name, range ?? { start: 0 }, idleMs);
  // S3 has no empty ranges.
  const size = await bucket.sizeOf(name).catch(throwFailure);
  if (size === undefined) throw new ServiceError('FILE_NO_LONGER_EXISTS');
  return Readable.from([]);
};

/** The copy keeps the end of the key's name: some formats are recognised by it. */
const materialize = async (bucket: Bucket, name: string, directory: string, idleMs: number): Promise<string> => {
  const path = join(directory, `${randomUUID()}-${basename(name)}`);
  const stream = await openObject(bucket, name, { start: 0 }, idleMs);
  try {
    await pipeline(stream, createWriteStream(path));
  } catch (error) {
    await rm(path, { force: true });
    throw copyFailure(error);
  }
  return path;
};

/** What is no error of the store is one of the disk that takes the copy. */
const copyFailure = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  const { code } = error as { readonly code?: unknown };
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new ServiceError(isFull ? 'RESOURCE_EXHAUSTED' : 'STORAGE_ERROR', undefined, { cause: error });
};

const list = async (bucket: Bucket, names: Names, prefix: string): Promise<readonly string[]> => {
  const keys: string[] = [];
  for await (const { name } of bucket.list(names.beginning(prefix))) {
    const key = names.keyOf(name);
    if (key !== undefined) keys.push(key);
  }
  return keys;
};

/** One by one: servers disagree about DeleteObjects (Content-MD5, quiet mode), and there is never much to remove. */
const remove = async (bucket: Bucket, names: Names, key: string): Promise<void> => {
  const name = names.object(key);
  // The upload before its tails: after a crash in between they can still be found.
  for await (const upload of bucket.uploads(name)) if (upload.name === name) await bucket.abort(name, upload.uploadId);
  for await (const tail of bucket.list(names.tailsOf(key))) await bucket.remove(tail.name);
  await bucket.remove(name);
};
