import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import { ServiceError } from '../domain/errors.ts';
import { isSettled, type UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import { headLength } from './head.ts';
import { endUpload, saveUpload, settleWithJob, type UploadDeps } from './records.ts';

/**
 * Ends an upload whose last byte is durable: verifies the declared checksum, detects the type, records and tells it.
 * The record given carries the final offset but may not be written yet. Safe to repeat.
 *
 * Errors: `CHECKSUM_MISMATCH` (the upload has failed), `INVALID_OFFSET` when another writer was first.
 */
export type CompleteUpload = (
  base: Entry<UploadRecord>,
  known: {
    /** The first bytes of the file, if this request has seen them. */
    readonly head?: Buffer;
    /** What the record shall say beside being complete. */
    readonly change?: Partial<UploadRecord>;
  },
) => Promise<Entry<UploadRecord>>;

export const createComplete =
  (deps: UploadDeps): CompleteUpload =>
  async (base, known) => {
    if (base.value.size === 0) await writeEmptyFile(deps, base.value);
    const verified = base.value.checksum === undefined ? base : await verify(deps, base, known.change ?? {});
    // Another request was faster, and has told it.
    if (isSettled(verified.value)) return verified;
    const record = { ...verified.value, ...known.change };
    const head = known.head ?? (await readHead(deps, record));
    const detected = await fileTypeFromBuffer(head);
    const change: Partial<UploadRecord> = {
      ...known.change,
      status: 'completed',
      ...(detected === undefined ? {} : { detectedType: detected.mime }),
    };
    const events = [{ type: 'upload_complete' as const }];
    const completed = await saveUpload(deps, verified, change, {
      events,
      progress: base.value.offset !== record.offset,
    });
    if (completed === undefined) return afterRace(deps, record.id);
    await settleWithJob(deps, completed);
    return completed;
  };

const writeEmptyFile = async (deps: UploadDeps, record: UploadRecord): Promise<void> => {
  const sink = await deps.storage(record.storageId).append(record.key, { offset: 0 });
  await sink.finish({ length: 0 }).finally(() => sink.close());
};

/** Reads the file back once and compares; a hash does not outlive its process (DESIGN 3). */
const verify = async (
  deps: UploadDeps,
  base: Entry<UploadRecord>,
  change: Partial<UploadRecord>,
): Promise<Entry<UploadRecord>> => {
  const finalizing = await saveUpload(deps, base, { ...change, status: 'finalizing' });
  if (finalizing === undefined) return afterRace(deps, base.value.id);
  const { id, checksum } = finalizing.value;
  const hash = createHash('sha256');
  for await (const chunk of await openBytes(deps, finalizing.value)) hash.update(chunk);
  const actual = hash.digest('hex');
  if (actual === checksum) return finalizing;
  const error = {
    code: 'CHECKSUM_MISMATCH' as const,
    message: `The bytes have the SHA-256 ${actual}, not ${checksum}`,
  };
  await endUpload(deps, id, 'failed', error);
  throw new ServiceError(error.code, error.message);
};

/** Another request finished it first, which is as good; anything else is that request's to explain. */
const afterRace = async (deps: UploadDeps, id: string): Promise<Entry<UploadRecord>> => {
  const entry = await deps.kvStore.get('uploads', id);
  if (entry?.value.status === 'completed') return entry;
  throw new ServiceError('INVALID_OFFSET', 'Another request has changed this upload');
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
