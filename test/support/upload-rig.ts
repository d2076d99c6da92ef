/** The uploads over the real embedded drivers, whose parts a test can bend, with a job that hears what it is told. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { LoggedEvent } from '../../src/domain/event.ts';
import type { Quota } from '../../src/domain/quota.ts';
import type { UploadRecord } from '../../src/domain/upload.ts';
import { localDataStore } from '../../src/drivers/data/local/index.ts';
import { localEvents } from '../../src/drivers/events/local/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { createPublish } from '../../src/events/publish.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { DataStore } from '../../src/ports/data-store.ts';
import type { Entry, KvStore } from '../../src/ports/kv-store.ts';
import { createUploads, type Uploads } from '../../src/uploads/index.ts';
import { realClock } from './clock.ts';
import { type Owner, temporaryDirectory } from './temporary.ts';

export interface UploadRig {
  readonly uploads: Uploads;
  readonly kvStore: KvStore;
  readonly dataStore: DataStore;
  /** The uploads that the job was told of, in order. */
  readonly told: UploadRecord[];
  readonly errors: unknown[];
  /** Appends at the offset of the upload. */
  append(id: string, text: string): Promise<UploadRecord>;
  entry(id: string): Promise<Entry<UploadRecord>>;
  /** Writes over the record as it is, whoever has written it. */
  change(id: string, change: Partial<UploadRecord>, dueAt?: number): Promise<void>;
  events(id: string): Promise<readonly LoggedEvent[]>;
}

export interface UploadRigOptions {
  readonly wrapData?: (store: DataStore) => DataStore;
  readonly wrapRecords?: (store: KvStore) => KvStore;
  readonly tellJob?: (upload: UploadRecord) => Promise<void>;
  readonly clock?: Clock;
  readonly quota?: Quota;
}

/** Milliseconds after which the uploads of a rig expire. */
export const rigTtl = 3_600_000;

export const uploadRig = async (t: Owner, options: UploadRigOptions = {}): Promise<UploadRig> => {
  const { clock = realClock } = options;
  const directory = await temporaryDirectory(t);
  const local = await localDataStore({ directory: join(directory, 'files'), durability: 'process' });
  const dataStore = options.wrapData?.(local) ?? local;
  const sqlite = sqliteKvStore({ path: join(directory, 'kv.db'), durability: 'process', clock });
  t.teardown(() => sqlite.close());
  const kvStore = options.wrapRecords?.(sqlite) ?? sqlite;
  const errors: unknown[] = [];
  const told: UploadRecord[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const uploads = createUploads({
    kvStore,
    publish: createPublish({ kvStore, eventBroadcaster: localEvents(), clock, onNotifyError: onError }),
    clock,
    storage: () => dataStore,
    tellJob: async (upload) => {
      told.push(upload);
      await options.tellJob?.(upload);
    },
    maxUploadSize: 1_000_000,
    pace: { idleMs: 5000, minRate: 0 },
    uploadTtl: rigTtl,
    quota: options.quota ?? {},
    onError,
  });
  const entry = async (id: string): Promise<Entry<UploadRecord>> => {
    const found = await sqlite.get('uploads', id);
    if (found === undefined) throw new Error(`there is no upload ${id}`);
    return found;
  };
  return {
    uploads,
    kvStore,
    dataStore,
    told,
    errors,
    entry,
    async append(id, text) {
      const { offset } = (await entry(id)).value;
      return uploads.append({ id, offset, contentLength: text.length, body: Readable.from([Buffer.from(text)]) });
    },
    async change(id, change, dueAt) {
      const { value, version } = await entry(id);
      const due = dueAt === undefined ? {} : { dueAt };
      await sqlite.commit({
        collection: 'uploads',
        id,
        value: { ...value, ...change },
        expectedVersion: version,
        ...due,
      });
    },
    events: (id) => sqlite.events('uploads', id, 0),
  };
};
