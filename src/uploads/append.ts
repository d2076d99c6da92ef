import { type Body, isFull, type UploadRecord } from '../domain/upload.ts';
import type { Sink } from '../ports/data-store.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { Owner, Owners } from '../ports/owners.ts';
import { isRepeatedLast, mayBeUndelivered, requireAppendable } from './append-checks.ts';
import type { Accepted, AppendRequest } from './append-request.ts';
import { ceilingOf } from './ceiling.ts';
import { Commits } from './commits.ts';
import type { CompleteUpload } from './complete.ts';
import { cutShort, requireWhole } from './cut-short.ts';
import type { Digests } from './digests.ts';
import { type Observer, observe } from './observe.ts';
import { asOwner } from './own.ts';
import type { Pace } from './pace.ts';
import { type Received, receive } from './receive.ts';
import { appended, changed, durableOf, findUpload, saveUpload, type UploadDeps } from './records.ts';
import { forgetUndelivered, isUndelivered, receiveRepeated, rememberUndelivered } from './repeated.ts';

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
  // Without an offset a body counts as a whole or not at all: nothing is committed on the way.
  const commits = new Commits(deps, { sync: () => sink.sync() }, entry, request.offset !== undefined);
  const options = { owned: true, length: upload.size, keep: commits.keep };
  const sink = await deps.storage(upload.storageId).append(upload.key, durableOf(upload), options);
  try {
    return await appendTo(deps, { sink, commits }, entry, request, owner);
  } finally {
    await sink.close();
  }
};

/** Where the bytes of a request go, and how the record hears of it. */
interface Way {
  readonly sink: Sink;
  readonly commits: Commits;
}

const appendTo = async (
  deps: AppendDeps,
  way: Way,
  entry: Entry<UploadRecord>,
  request: Accepted,
  owner: Owner,
): Promise<Entry<UploadRecord>> => {
  const { value: upload } = entry;
  const { sink, commits } = way;
  const allOrNothing = request.offset === undefined;
  const seen = observe(deps.digests, upload, allOrNothing);
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
    ? await forgetUndelivered(deps, await letGo(way))
    : await commitRest(deps, way, upload.offset + received.bytes, { seen, owner });
  await requireOwn(deps, last.value, request, { received, owner, body });
  return last;
};

/** Nothing is written of this body any more; the record is as its sink has left it. */
const letGo = async ({ sink, commits }: Way): Promise<Entry<UploadRecord>> => {
  await sink.close();
  return commits.settled();
};

/** Makes the rest durable and records it; completes the upload when that was all of it. */
const commitRest = async (
  deps: AppendDeps,
  { sink, commits }: Way,
  end: number,
  { seen, owner }: { readonly seen: Observer; readonly owner: Owner },
): Promise<Entry<UploadRecord>> => {
  const { size, id } = (await commits.settled()).value;
  const durable = await sink.finish(end === size ? { length: size } : {});
  const committed = await commits.settled();
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
