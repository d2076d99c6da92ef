import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ServiceError } from '../domain/errors.ts';
import { type Body, isFull, type UploadRecord } from '../domain/upload.ts';
import type { Sink } from '../ports/data-store.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { Owner, Owners } from '../ports/owners.ts';
import { type Announced, isRepeatedLast, mayBeUndelivered, requireAppendable } from './append-checks.ts';
import { type Ceiling, ceilingOf } from './ceiling.ts';
import { Commits } from './commits.ts';
import type { CompleteUpload } from './complete.ts';
import type { Digests } from './digests.ts';
import { Head } from './head.ts';
import { asOwner } from './own.ts';
import type { Pace } from './pace.ts';
import { type Received, receive } from './receive.ts';
import { appended, changed, durableOf, findUpload, saveUpload, type UploadDeps } from './records.ts';
import { forgetUndelivered, isUndelivered, receiveRepeated, rememberUndelivered } from './repeated.ts';

export interface AppendRequest extends Announced {
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
  /** Asked after the append when there was no offset: `false` if the answer is known not to have reached the client. */
  readonly delivered?: (() => Promise<boolean>) | undefined;
}

/**
 * Appends the body and answers with the record once its bytes and its offset are durable.
 *
 * Errors: `FILE_NOT_FOUND`, `FILE_NO_LONGER_EXISTS`, `INVALID_OFFSET`, `ERR_SIZE_EXCEEDED`, `ERR_MAX_SIZE_EXCEEDED`,
 * `QUOTA_EXCEEDED`, `UPLOAD_LOCKED`, `CHECKSUM_MISMATCH`, `UNAVAILABLE` (draining, or the body ended early), the store's.
 */
export type AppendUpload = (request: AppendRequest) => Promise<UploadRecord>;

export interface AppendDeps extends UploadDeps {
  readonly complete: CompleteUpload;
  readonly owners: Owners;
  readonly digests: Digests;
  readonly maxUploadSize: number;
  readonly pace: Pace;
  readonly onError: (error: unknown) => void;
}

export const createAppend =
  (deps: AppendDeps): AppendUpload =>
  async (request) => {
    const done = await asOwner(deps.owners, request.id, 'wait', {
      check: async (waited) => {
        const entry = await findUpload(deps, request.id, request.clientId);
        // Who has waited for a writer at its offset has lost the race, and does not repeat what it has done.
        const repeats = !waited && isRepeatedLast(entry.value, request);
        const ceiling = await (repeats ? ceilingOf(deps, entry.value) : requireAppendable(deps, entry.value, request));
        return { entry: withLength(entry, request), ceiling };
      },
      work: (owner, { entry, ceiling }) => append(deps, entry, { ...request, ceiling }, owner),
    });
    await deps.kvStore.flush();
    return done.value;
  };

/** A request with what was found out about it. */
export type Accepted = AppendRequest & { readonly ceiling: Ceiling };

const withLength = (entry: Entry<UploadRecord>, request: AppendRequest): Entry<UploadRecord> =>
  request.uploadLength === undefined ? entry : { ...entry, value: { ...entry.value, size: request.uploadLength } };

const append = async (
  deps: AppendDeps,
  entry: Entry<UploadRecord>,
  request: Accepted,
  owner: Owner,
): Promise<Entry<UploadRecord>> => {
  const { value: upload } = entry;
  if (isFull(upload)) {
    requireWhole(await receiveRepeated(deps, upload, request, owner), owner, upload);
    return deps.complete(entry, { letGo: owner.release });
  }
  const sink = await deps.storage(upload.storageId).append(upload.key, durableOf(upload), { owned: true });
  try {
    return await appendTo(deps, sink, entry, request, owner);
  } finally {
    await sink.close();
  }
};

const appendTo = async (
  deps: AppendDeps,
  sink: Sink,
  entry: Entry<UploadRecord>,
  request: Accepted,
  owner: Owner,
): Promise<Entry<UploadRecord>> => {
  const { value: upload } = entry;
  const allOrNothing = request.offset === undefined;
  const commits = new Commits(deps, sink, entry, !allOrNothing);
  const seen = watch(deps, upload, allOrNothing);
  const room = request.ceiling.size - upload.offset;
  request.onAccepted?.();
  const received = await receive(request.body, sink, {
    limit: mayBeUndelivered(upload, request) ? Math.max(room, upload.undelivered?.length ?? 0) : room,
    pace: deps.pace,
    owner,
    onChunk: (chunk, bytes) => {
      seen.add(chunk);
      commits.progressed(bytes);
    },
    onTick: (bytes) => commits.progressed(bytes),
  });
  const committed = await commits.settled();
  const body = seen.body(received.bytes);
  const again = received.ending === 'end' && body !== undefined && isUndelivered(upload, body);
  if (!again && (received.ending === 'overrun' || received.bytes > room)) throw request.ceiling.error(committed.value);
  // Without an offset the client cannot know how far it came, so a body that did not end counts for nothing.
  if (allOrNothing) requireWhole(received, owner, upload);
  const last = again
    ? await forgetUndelivered(deps, entry)
    : await commitRest(deps, sink, committed, upload.offset + received.bytes, { seen, owner });
  await requireOwn(deps, last.value, request, { received, owner, body });
  return last;
};

/** Whatever else is to be known of a body is found out while it passes by. */
const watch = (deps: AppendDeps, upload: UploadRecord, allOrNothing: boolean) => {
  const head = new Head(upload.offset === 0);
  const whole = upload.checksum === undefined ? undefined : deps.digests.resume(upload.id, upload.offset);
  const own = allOrNothing ? createHash('sha256') : undefined;
  return {
    add: (chunk: Buffer): void => {
      head.add(chunk);
      whole?.update(chunk);
      own?.update(chunk);
    },
    /** For an all-or-nothing body. */
    body: (length: number): Body | undefined => own && { length, sha256: own.digest('hex') },
    /** What the completion need not read the file for. */
    known: (size: number) => ({ ...head.known(size), ...(whole === undefined ? {} : { sha256: whole.digest('hex') }) }),
    /** The type, if the bytes that tell it have all passed. */
    type: () => head.type(),
    /** For the body that follows this one. */
    keep: (offset: number): void => {
      if (whole !== undefined) deps.digests.keep(upload.id, offset, whole);
    },
  };
};

/** Makes the rest durable and records it; completes the upload when that was all of it. */
const commitRest = async (
  deps: AppendDeps,
  sink: Sink,
  committed: Entry<UploadRecord>,
  end: number,
  { seen, owner }: { readonly seen: ReturnType<typeof watch>; readonly owner: Owner },
): Promise<Entry<UploadRecord>> => {
  const { size, id } = committed.value;
  const durable = await sink.finish(end === size ? { length: size } : {});
  if (durable.offset === size) {
    deps.digests.forget(id);
    return deps.complete(committed, { change: appended(durable), letGo: owner.release, ...seen.known(size) });
  }
  const change = { ...appended(durable), ...(await seen.type()) };
  const saved = await saveUpload(deps, committed, change, { progress: true });
  if (saved === undefined) throw changed();
  seen.keep(durable.offset);
  return saved;
};

/** No success for a request whose body was cut or whose upload has been taken over, though its bytes are kept. */
const requireOwn = async (
  deps: AppendDeps,
  upload: UploadRecord,
  request: AppendRequest,
  end: { readonly received: Received; readonly owner: Owner; readonly body: Body | undefined },
): Promise<void> => {
  const { received, owner, body } = end;
  const displaced = owner.stopped === 'displaced';
  if (body !== undefined) {
    const lost = displaced ? Promise.resolve(true) : request.delivered?.().then((arrived) => !arrived);
    const remembered = lost?.then((is) => (is ? rememberUndelivered(deps, upload, body) : undefined));
    if (displaced) await remembered;
    else remembered?.catch(deps.onError);
  }
  if (received.ending === 'end' && !displaced) return;
  // The error tells the offset too, and whoever has displaced this writer will.
  await deps.kvStore.flush();
  throw cutShort(received, owner, upload);
};

const requireWhole = (received: Received, owner: Owner, upload: UploadRecord): void => {
  if (received.ending !== 'end') throw cutShort(received, owner, upload);
};

const cutShort = ({ ending }: Received, owner: Owner, upload: UploadRecord): ServiceError => {
  if (owner.stopped === 'displaced' || ending === 'silent') {
    return new ServiceError('INVALID_OFFSET', 'Another request has taken over this upload', {
      details: { 'expected-offset': upload.offset },
    });
  }
  const text = ending === 'stopped' ? 'The service is shutting down' : 'The body ended early';
  return new ServiceError('UNAVAILABLE', `${text}; the upload is at offset ${upload.offset}`, { retryAfter: 1 });
};
