import { createHash } from 'node:crypto';
import { ServiceError } from '../domain/errors.ts';
import { isSettled, type UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import { headLength } from './head.ts';
import { changed, durableOf, endUpload, saveUpload, settleWithJob, type UploadDeps } from './records.ts';
import { sniff } from './sniff.ts';

/**
 * Ends an upload whose last byte is durable: verifies the declared checksum, detects the type, records and tells it.
 * The record given carries the final offset but may not be written yet. Safe to repeat.
 *
 * Errors: `CHECKSUM_MISMATCH` (the upload has failed), `INVALID_OFFSET` when another writer was first.
 */
export type CompleteUpload = (base: Entry<UploadRecord>, known: Known) => Promise<Entry<UploadRecord>>;

export interface Known {
  /** The first bytes of the file, if this request has seen them. */
  readonly head?: Buffer;
  /** The SHA-256 of the whole file, if this process has seen all of it. */
  readonly sha256?: string;
  /** What the record shall say beside being complete; absent: the file has not been closed at its length either. */
  readonly change?: Partial<UploadRecord>;
  /** Called when nobody needs to be kept from writing any more, though the completion goes on. */
  readonly letGo?: () => void;
}

export const createComplete = (deps: UploadDeps): CompleteUpload => {
  const hashStored = createHashing(deps);
  return async (base, known) => {
    if (isSettled(base.value)) return base;
    if (known.change === undefined) await seal(deps, base.value);
    const verified = base.value.checksum === undefined ? base : await verify(deps, base, known, hashStored);
    // Another request was faster, and has told it.
    if (isSettled(verified.value)) return verified;
    return record(deps, verified, known, base.value.offset);
  };
};

const record = async (
  deps: UploadDeps,
  verified: Entry<UploadRecord>,
  known: Known,
  before: number,
): Promise<Entry<UploadRecord>> => {
  const complete = { ...verified.value, ...known.change };
  const type = complete.sniffed === true ? {} : await sniff(known.head ?? (await readHead(deps, complete)));
  const change: Partial<UploadRecord> = { ...known.change, ...type, status: 'completed' };
  const progress = before !== complete.offset;
  const told = { events: [{ type: 'upload_complete' as const }], progress };
  const completed = await saveUpload(deps, verified, change, told);
  if (completed === undefined) return afterRace(deps, complete.id);
  await settleWithJob(deps, completed);
  return completed;
};

/** Cuts off what lies beyond the end, and makes the file when it is empty. */
const seal = async (deps: UploadDeps, upload: UploadRecord): Promise<void> => {
  const length = upload.offset;
  const sink = await deps.storage(upload.storageId).append(upload.key, durableOf(upload), { length });
  await sink.finish({ length }).finally(() => sink.close());
};

type HashStored = (upload: UploadRecord) => Promise<string>;

const verify = async (
  deps: UploadDeps,
  base: Entry<UploadRecord>,
  known: Known,
  hashStored: HashStored,
): Promise<Entry<UploadRecord>> => {
  const { id, checksum } = base.value;
  const entry = known.sha256 === undefined ? await saveFinalizing(deps, base, known) : base;
  const actual = known.sha256 ?? (await hashStored(entry.value));
  if (actual === checksum) return entry;
  const error = {
    code: 'CHECKSUM_MISMATCH' as const,
    message: `The bytes have the SHA-256 ${actual}, not ${checksum}`,
  };
  await endUpload(deps, id, 'failed', error);
  throw new ServiceError(error.code, error.message);
};

/** Reading the file back takes its time, and nobody can add anything meanwhile. */
const saveFinalizing = async (
  deps: UploadDeps,
  base: Entry<UploadRecord>,
  known: Known,
): Promise<Entry<UploadRecord>> => {
  if (base.value.status === 'finalizing') return base;
  const saved = await saveUpload(deps, base, { ...known.change, status: 'finalizing' });
  known.letGo?.();
  return saved ?? afterRace(deps, base.value.id);
};

/** Reads a file back once for all who ask at the time. */
const createHashing = (deps: UploadDeps): HashStored => {
  const running = new Map<string, Promise<string>>();
  const hash = async (upload: UploadRecord): Promise<string> => {
    const sha256 = createHash('sha256');
    for await (const chunk of await openBytes(deps, upload)) sha256.update(chunk);
    return sha256.digest('hex');
  };
  return (upload) => {
    const already = running.get(upload.id);
    if (already !== undefined) return already;
    const hashed = hash(upload).finally(() => running.delete(upload.id));
    running.set(upload.id, hashed);
    return hashed;
  };
};

/** Another request finished it first, which is as good; anything else is that request's to explain. */
const afterRace = async (deps: UploadDeps, id: string): Promise<Entry<UploadRecord>> => {
  const entry = await deps.kvStore.get('uploads', id);
  if (entry?.value.status === 'completed') return entry;
  throw changed();
};

const openBytes = (deps: UploadDeps, record: UploadRecord, range?: { start: number; end: number }) =>
  deps.storage(record.storageId).read(record.key, range);

const readHead = async (deps: UploadDeps, record: UploadRecord): Promise<Buffer> => {
  if (record.offset === 0) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  const range = { start: 0, end: Math.min(headLength, record.offset) };
  for await (const chunk of await openBytes(deps, record, range)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
