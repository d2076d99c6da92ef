import type { Readable } from 'node:stream';
import { ServiceError } from '../domain/errors.ts';
import { isFull, isSettled, type UploadRecord } from '../domain/upload.ts';
import type { Durable, Sink } from '../ports/data-store.ts';
import type { Entry } from '../ports/kv-store.ts';
import { Commits } from './commits.ts';
import type { CompleteUpload } from './complete.ts';
import { requireSizeWithin } from './create.ts';
import { Head } from './head.ts';
import { drainingError, type Owners, type Writer } from './owners.ts';
import { type Received, receive } from './receive.ts';
import { findUpload, requireAlive, saveUpload, type UploadDeps } from './records.ts';

export interface AppendRequest {
  readonly id: string;
  readonly clientId?: string | undefined;
  /** `Upload-Offset`. Absent: the body counts whole or not at all (WIRE 1, rule 3). */
  readonly offset?: number | undefined;
  /** `Content-Length`, when the request has one. */
  readonly contentLength?: number | undefined;
  /** `Upload-Length`: fixes a length that was deferred. */
  readonly uploadLength?: number | undefined;
  /** Its chunks are given up to the store: see `AppendOptions.owned`. */
  readonly body: Readable;
  /** Called when nothing speaks against the body and it is about to be read. */
  readonly onAccepted?: (() => void) | undefined;
}

/**
 * Appends the body and answers with the record once its bytes and its offset are durable.
 *
 * Errors: `FILE_NOT_FOUND`, `FILE_NO_LONGER_EXISTS`, `INVALID_OFFSET`, `ERR_SIZE_EXCEEDED`, `ERR_MAX_SIZE_EXCEEDED`,
 * `UPLOAD_LOCKED`, `CHECKSUM_MISMATCH`, `UNAVAILABLE` (draining, or the body ended early), the store's.
 */
export type AppendUpload = (request: AppendRequest) => Promise<UploadRecord>;

export interface AppendDeps extends UploadDeps {
  readonly complete: CompleteUpload;
  readonly owners: Owners;
  readonly maxUploadSize: number;
  /** Milliseconds without a byte after which a body is given up. */
  readonly idleMs: number;
}

export const createAppend =
  (deps: AppendDeps): AppendUpload =>
  async (request) => {
    requireAppendable(deps, (await findUpload(deps, request.id, request.clientId)).value, request);
    const writer = await deps.owners.acquire(request.id);
    try {
      const entry = await findUpload(deps, request.id, request.clientId);
      requireAppendable(deps, entry.value, request);
      const done = await write(deps, withLength(entry, request), request, writer);
      await deps.kvStore.flush();
      return done.value;
    } finally {
      writer.release();
    }
  };

/** All that can be refused before a byte is read. */
const requireAppendable = (deps: AppendDeps, upload: UploadRecord, request: AppendRequest): void => {
  requireAlive(upload);
  if (request.offset !== undefined && request.offset !== upload.offset) throw offsetMismatch(upload, request.offset);
  const { uploadLength, contentLength = 0 } = request;
  if (uploadLength !== undefined) requireLength(deps, upload, uploadLength);
  const sized = uploadLength === undefined ? upload : { ...upload, size: uploadLength };
  const size = sized.size ?? deps.maxUploadSize;
  if (upload.offset + contentLength > size) throw overrun(sized, size);
};

const requireLength = (deps: AppendDeps, upload: UploadRecord, length: number): void => {
  requireSizeWithin(length, deps.maxUploadSize);
  if ((upload.size ?? length) === length && length >= upload.offset) return;
  throw new ServiceError('VALIDATION_ERROR', `Upload-Length ${length} does not fit the upload`, {
    details: { field: 'headers.upload-length' },
  });
};

const offsetMismatch = (upload: UploadRecord, provided: number): ServiceError =>
  new ServiceError('INVALID_OFFSET', `The upload is at offset ${upload.offset}, not ${provided}`, {
    details: { 'expected-offset': upload.offset, 'provided-offset': provided },
  });

/** `size`: the upload's, or while it has none the most that the service takes. */
const overrun = (upload: UploadRecord, size: number): ServiceError =>
  size === upload.size
    ? new ServiceError('ERR_SIZE_EXCEEDED', `The body would pass the size of the upload (${size} bytes)`, {
        details: { offset: upload.offset, size },
      })
    : new ServiceError('ERR_MAX_SIZE_EXCEEDED', `The upload would have more than ${size} bytes`, {
        details: { limit: 'size', max: size },
      });

const withLength = (entry: Entry<UploadRecord>, request: AppendRequest): Entry<UploadRecord> =>
  request.uploadLength === undefined ? entry : { ...entry, value: { ...entry.value, size: request.uploadLength } };

const write = async (
  deps: AppendDeps,
  entry: Entry<UploadRecord>,
  request: AppendRequest,
  writer: Writer,
): Promise<Entry<UploadRecord>> => {
  // Nothing to add: an empty PATCH at the end, or one that only fixes the length.
  if (isSettled(entry.value)) return requireNothing(deps, entry, request, writer);
  if (isFull(entry.value) && request.contentLength === 0) return deps.complete(entry, {});
  const store = deps.storage(entry.value.storageId);
  const sink = await store.append(entry.value.key, durableOf(entry.value), { owned: true });
  try {
    return await writeTo(deps, sink, entry, request, writer);
  } finally {
    await sink.close();
  }
};

/** A completed upload as it is, once it is sure that the body is empty; a chunked one tells that only at its end. */
const requireNothing = async (
  deps: AppendDeps,
  entry: Entry<UploadRecord>,
  request: AppendRequest,
  writer: Writer,
): Promise<Entry<UploadRecord>> => {
  if (request.contentLength === 0) return entry;
  request.onAccepted?.();
  const { stopped } = writer;
  const received = await receive(request.body, nowhere, { limit: 0, idleMs: deps.idleMs, stopped });
  if (received.ending === 'overrun') throw overrun(entry.value, entry.value.offset);
  if (received.ending !== 'end') throw cutShort(received, writer, entry.value);
  return entry;
};

const nowhere = { write: () => true, drained: async () => {} };

const durableOf = (upload: UploadRecord): Durable => ({ offset: upload.offset, state: upload.sink });

const writeTo = async (
  deps: AppendDeps,
  sink: Sink,
  entry: Entry<UploadRecord>,
  request: AppendRequest,
  writer: Writer,
): Promise<Entry<UploadRecord>> => {
  const { value: upload } = entry;
  const commits = new Commits(deps, sink, entry, request.offset !== undefined);
  const head = new Head(upload.offset === 0);
  request.onAccepted?.();
  const received = await receive(request.body, sink, {
    limit: (upload.size ?? deps.maxUploadSize) - upload.offset,
    idleMs: deps.idleMs,
    stopped: writer.stopped,
    onChunk: (chunk, bytes) => {
      head.add(chunk);
      commits.progressed(bytes);
    },
  });
  const committed = await commits.settled();
  if (received.ending === 'overrun') throw overrun(committed.value, upload.size ?? deps.maxUploadSize);
  // Without an offset the client cannot know how far it came, so a body that did not end counts for nothing.
  if (received.ending !== 'end' && request.offset === undefined) throw cutShort(received, writer, upload);
  const last = await commitRest(deps, sink, committed, upload.offset + received.bytes, head);
  if (received.ending === 'end') return last;
  // The error tells the offset too, and whoever has displaced this writer will.
  await deps.kvStore.flush();
  throw cutShort(received, writer, last.value);
};

/** Makes the rest durable and records it; completes the upload when that was all of it. */
const commitRest = async (
  deps: AppendDeps,
  sink: Sink,
  committed: Entry<UploadRecord>,
  end: number,
  head: Head,
): Promise<Entry<UploadRecord>> => {
  const { size } = committed.value;
  const { offset, state } = await sink.finish(end === size ? { length: size } : {});
  const change = { offset, ...(state === undefined ? {} : { sink: state }) };
  if (offset === size) return deps.complete(committed, { change, ...head.known(offset) });
  const saved = await saveUpload(deps, committed, { ...change, status: 'uploading' }, { progress: true });
  if (saved === undefined) throw new ServiceError('INVALID_OFFSET', 'Another request has changed this upload');
  return saved;
};

const cutShort = (received: Received, writer: Writer, upload: UploadRecord): ServiceError => {
  if (received.ending === 'stopped' && writer.stopped.reason === 'draining') return drainingError();
  if (received.ending === 'stopped') {
    return new ServiceError('INVALID_OFFSET', 'Another request has taken over this upload', {
      details: { 'expected-offset': upload.offset },
    });
  }
  return new ServiceError('UNAVAILABLE', `The body ended early; the upload is at offset ${upload.offset}`, {
    retryAfter: 1,
  });
};
