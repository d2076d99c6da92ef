/**
 * Bodies that come twice because the answer to the first was lost. The last one of an upload is compared with what is
 * stored. Of those without an offset the server remembers the last when it knows that the client has not heard of it
 * (WIRE 1, rules 3 and 11).
 */
import { createHash } from 'node:crypto';
import type { Body, UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { Owner } from '../ports/owners.ts';
import { mayBeUndelivered, offsetMismatch } from './append-checks.ts';
import type { Accepted } from './append-request.ts';
import type { Pace } from './pace.ts';
import { type Received, receive } from './receive.ts';
import { changed, type SaveDeps, saveUpload, type UploadDeps } from './records.ts';

/** Whether these are the bytes whose answer was lost. */
export const isUndelivered = ({ undelivered }: UploadRecord, body: Body): boolean =>
  undelivered !== undefined && undelivered.length === body.length && undelivered.sha256 === body.sha256;

/**
 * Takes a body that can add nothing to an upload whose bytes are all there: none at all, the last one again, or the
 * undelivered one again. Errors: `ERR_SIZE_EXCEEDED`, `INVALID_OFFSET` for any other.
 */
export const receiveRepeated = async (
  deps: Pick<UploadDeps, 'storage'> & { readonly pace: Pace },
  upload: UploadRecord,
  request: Accepted,
  owner: Owner,
): Promise<Received> => {
  if (request.contentLength === 0) return { ending: 'end', bytes: 0 };
  const { offset = upload.offset } = request;
  const hash = createHash('sha256');
  request.onAccepted?.();
  const received = await receive(request.body, nowhere, {
    limit: mayBeUndelivered(upload, request) ? (upload.undelivered?.length ?? 0) : upload.offset - offset,
    pace: deps.pace,
    owner,
    onChunk: (chunk) => void hash.update(chunk),
  });
  const { ending, bytes: length } = received;
  if (ending === 'overrun') throw request.ceiling.error(upload);
  if (ending !== 'end' || (length === 0 && offset === upload.offset)) return received;
  const body = { length, sha256: hash.digest('hex') };
  if (isUndelivered(upload, body) || (await isStored(deps, upload, offset, body))) return received;
  throw offset === upload.offset ? request.ceiling.error(upload) : offsetMismatch(upload, offset);
};

const nowhere = { write: () => true, drained: async () => {} };

/** Whether the upload ends with this body, which was sent for `offset`. */
const isStored = async (
  deps: Pick<UploadDeps, 'storage'>,
  upload: UploadRecord,
  offset: number,
  { length, sha256 }: Body,
): Promise<boolean> => {
  if (offset + length !== upload.offset || upload.bytesRemoved === true) return false;
  const hash = createHash('sha256');
  const range = { start: offset, end: upload.offset };
  for await (const chunk of await deps.storage(upload.storageId).read(upload.key, range)) hash.update(chunk);
  return hash.digest('hex') === sha256;
};

/** Keeps in mind that the client has not heard of its last body, unless something has been added after it. */
export const rememberUndelivered = async (
  deps: SaveDeps & Pick<UploadDeps, 'kvStore'>,
  { id, offset }: UploadRecord,
  body: Body,
): Promise<void> => {
  for (;;) {
    const entry = await deps.kvStore.get('uploads', id);
    if (entry === undefined || entry.value.offset !== offset) return;
    if ((await saveUpload(deps, entry, { undelivered: body })) !== undefined) return;
  }
};

/** This time the client is about to hear of it; the next body that looks the same is a new one. */
export const forgetUndelivered = async (deps: SaveDeps, entry: Entry<UploadRecord>): Promise<Entry<UploadRecord>> => {
  const saved = await saveUpload(deps, entry, { undelivered: undefined });
  if (saved === undefined) throw changed();
  return saved;
};
