/** Reading and changing upload records: what every use case of this folder starts from. */
import { ServiceError } from '../domain/errors.ts';
import type { ServiceEvent } from '../domain/event.ts';
import { isSettled, mustTellJob, type UploadRecord } from '../domain/upload.ts';
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
}

/** How long after a change recovery looks whether the step that follows it was taken. */
const followUpMs = 10_000;

/** When recovery must look at the record: a job still to be told, or a verification still to be finished. */
const dueAt = (upload: UploadRecord, now: number): number | undefined =>
  mustTellJob(upload) || upload.status === 'finalizing' ? now + followUpMs : undefined;

/** The upload of this client; another client's is as unknown as one that never was. */
export const findUpload = async (
  deps: Pick<UploadDeps, 'kvStore'>,
  id: string,
  clientId: string | undefined,
): Promise<Entry<UploadRecord>> => {
  const entry = await deps.kvStore.get('uploads', id);
  if (entry === undefined || entry.value.clientId !== clientId) throw new ServiceError('FILE_NOT_FOUND');
  return entry;
};

/** Refuses uploads that were deleted or have failed. */
export const requireAlive = (upload: UploadRecord): void => {
  if (upload.status !== 'cancelled' && upload.status !== 'failed') return;
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

/** Writes the record over the version it was made from; `undefined` when another writer was first. */
export const saveUpload = (
  deps: Pick<UploadDeps, 'publish' | 'clock'>,
  base: Entry<UploadRecord>,
  change: Partial<UploadRecord>,
  told: { readonly events?: readonly ServiceEvent[]; readonly progress?: boolean } = {},
): Promise<Entry<UploadRecord> | undefined> => {
  const value = { ...base.value, ...change };
  return deps.publish({
    topic: 'uploads',
    value,
    expectedVersion: base.version,
    ...told,
    dueAt: dueAt(value, deps.clock.now()),
  });
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

/** Ends an upload that is not settled yet: `failed` or `cancelled`, with its event; the bytes go. */
export const endUpload = async (
  deps: UploadDeps,
  id: string,
  status: 'failed' | 'cancelled',
  error: NonNullable<UploadRecord['error']>,
): Promise<void> => {
  for (;;) {
    const entry = await deps.kvStore.get('uploads', id);
    if (entry === undefined || isSettled(entry.value)) return;
    const ended = await saveUpload(deps, entry, { status, error }, { events: [{ type: 'upload_error', error }] });
    if (ended === undefined) continue;
    await deps.storage(ended.value.storageId).remove(ended.value.key);
    return settleWithJob(deps, ended);
  }
};
