/** Reading and changing upload records: what every use case of this folder starts from. */
import { ServiceError } from '../domain/errors.ts';
import type { ServiceEvent } from '../domain/event.ts';
import { noUsage, type Quota, type UsageChange, usageDelta, usageOf } from '../domain/quota.ts';
import { mayRead, type Reader } from '../domain/reader.ts';
import { isSettled, lifetimeOf, mustTellJob, type UploadRecord } from '../domain/upload.ts';
import type { Clock } from '../ports/clock.ts';
import type { DataStore, Durable } from '../ports/data-store.ts';
import type { Entry, KvStore } from '../ports/kv-store.ts';

/** Writes an upload record with its events; see `events/publish`. */
export type PublishUpload = (publication: {
  readonly topic: 'uploads';
  readonly value: UploadRecord;
  readonly expectedVersion: number;
  readonly events?: readonly ServiceEvent[];
  readonly progress?: boolean;
  readonly dueAt?: number | undefined;
  readonly usage?: UsageChange | undefined;
}) => Promise<Entry<UploadRecord> | undefined>;

/** What the use cases of this folder need; each takes the part that it uses. */
export interface UploadDeps {
  readonly kvStore: KvStore;
  readonly publish: PublishUpload;
  readonly clock: Clock;
  /** The store of a storage id; throws `STORAGE_NOT_FOUND`. */
  readonly storage: (storageId: string) => DataStore;
  /** Wakes the job that waits for a settled upload; must be safe to call twice. */
  readonly tellJob: (upload: UploadRecord) => Promise<void>;
  /** Milliseconds after its last commit when an incomplete upload expires. */
  readonly uploadTtl: number;
  /** What the uploads of one client may take up. */
  readonly quota: Quota;
}

/** What writing a record needs. */
export type SaveDeps = Pick<UploadDeps, 'publish' | 'clock' | 'uploadTtl' | 'quota'>;

/** How long after a change recovery looks whether the step that follows it was taken. */
const followUpMs = 10_000;

/** All bytes are there, but nobody has said so yet: a checksum is verified, or an empty file is made. */
export const mustComplete = ({ status, size }: UploadRecord): boolean =>
  status === 'finalizing' || (status === 'created' && size === 0);

/** A step is still to be taken: the completion, the word to the job, the removal of the bytes. */
const isUnfinished = (upload: UploadRecord): boolean =>
  isAlive(upload) ? mustTellJob(upload) || mustComplete(upload) : upload.bytesRemoved !== true;

/** When recovery must look at the record: after the step that is due now, else when the record's time has come. */
const dueAt = (upload: UploadRecord, now: number): number | undefined => {
  if (isUnfinished(upload)) return now + followUpMs;
  return upload.expiresAt === undefined ? undefined : Date.parse(upload.expiresAt);
};

/** The record as it is written now: the time that it has left begins anew with every write. */
const withExpiry = (upload: UploadRecord, now: number, ttl: number): UploadRecord => {
  const lifetime = lifetimeOf(upload, ttl);
  const expiresAt = lifetime === undefined ? undefined : new Date(now + lifetime).toISOString();
  return { ...upload, expiresAt };
};

/** The upload of this client; another client's is as unknown as one that never was. */
export const findUpload = async (
  deps: Pick<UploadDeps, 'kvStore'>,
  id: string,
  reader: Reader,
): Promise<Entry<UploadRecord>> => {
  const entry = await deps.kvStore.get('uploads', id);
  if (entry === undefined || !mayRead(reader, entry.value)) throw new ServiceError('FILE_NOT_FOUND');
  return entry;
};

/** Neither deleted nor expired, and it has not failed. */
export const isAlive = ({ status }: UploadRecord): boolean => status !== 'cancelled' && status !== 'failed';

/** Refuses uploads that are not alive: `FILE_NO_LONGER_EXISTS`. */
export const requireAlive = (upload: UploadRecord): void => {
  if (isAlive(upload)) return;
  throw new ServiceError('FILE_NO_LONGER_EXISTS', upload.error?.message);
};

/** What the store needs to go on with an upload. */
export const durableOf = ({ offset, sink }: UploadRecord): Durable => ({ offset, state: sink });

/** What changes in the record when its bytes are durable up to here. */
export const appended = ({ offset, state }: Durable): Partial<UploadRecord> => ({
  offset,
  status: 'uploading',
  undelivered: undefined,
  ...(state === undefined ? {} : { sink: state }),
});

/**
 * Writes the record over the version it was made from; `undefined` when another writer was first.
 * What the upload takes up is counted with it. Errors: `QUOTA_EXCEEDED`, and nothing is written.
 */
export const saveUpload = (
  deps: SaveDeps,
  base: Entry<UploadRecord>,
  change: Partial<UploadRecord>,
  told: { readonly events?: readonly ServiceEvent[]; readonly progress?: boolean } = {},
): Promise<Entry<UploadRecord> | undefined> => {
  const now = deps.clock.now();
  const changed = withExpiry({ ...base.value, ...change }, now, deps.uploadTtl);
  const value = { ...changed, counted: usageOf(changed) };
  return deps.publish({
    topic: 'uploads',
    value,
    expectedVersion: base.version,
    ...told,
    dueAt: dueAt(value, now),
    usage: usageChange(deps.quota, base.value, value),
  });
};

const usageChange = (quota: Quota, base: UploadRecord, upload: UploadRecord): UsageChange | undefined => {
  const delta = usageDelta(base.counted ?? noUsage, usageOf(upload));
  return delta && { clientId: upload.clientId, delta, quota };
};

/** When a record is no longer at the version that this request has read. */
export const changed = (): ServiceError =>
  new ServiceError('INVALID_OFFSET', 'Another request has changed this upload');

/** Tells the waiting job, if there is one, and then takes the record off the list of those still to be told. */
export const settleWithJob = async (deps: UploadDeps, entry: Entry<UploadRecord>): Promise<void> => {
  if (!mustTellJob(entry.value)) return;
  await deps.tellJob(entry.value);
  await deps.publish({ topic: 'uploads', value: entry.value, expectedVersion: entry.version });
};

/**
 * Ends an upload that `may` be ended, by default one that has not settled yet: `failed` or `cancelled`, with its
 * event; the waiting job is told and the bytes go. One that was complete has had its terminal event already.
 */
export const endUpload = async (
  deps: UploadDeps,
  id: string,
  status: 'failed' | 'cancelled',
  error: NonNullable<UploadRecord['error']>,
  may: (upload: UploadRecord) => boolean = (upload) => !isSettled(upload),
): Promise<void> => {
  for (;;) {
    const entry = await deps.kvStore.get('uploads', id);
    if (entry === undefined || !may(entry.value)) return;
    const events = isSettled(entry.value) ? [] : [{ type: 'upload_error' as const, error }];
    const ended = await saveUpload(deps, entry, { status, error }, { events });
    if (ended !== undefined) return finishEnd(deps, ended);
  }
};

/** What follows the end of a failed or cancelled upload, until only a tombstone is left. Safe to repeat. */
export const finishEnd = async (deps: UploadDeps, ended: Entry<UploadRecord>): Promise<void> => {
  if (mustTellJob(ended.value)) await deps.tellJob(ended.value);
  // After a power cut no record shall be alive whose bytes are gone.
  await deps.kvStore.flush();
  await removeBytes(deps, ended.value);
  // When another request is faster, it has done the same.
  await saveUpload(deps, ended, { bytesRemoved: true });
};

/** Frees the room in the data store; the record is the caller's to change. */
export const removeBytes = (deps: Pick<UploadDeps, 'storage'>, upload: UploadRecord): Promise<void> =>
  deps.storage(upload.storageId).remove(upload.key);
