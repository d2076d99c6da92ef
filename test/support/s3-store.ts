/** S3 data stores over the real server, each in a part of one bucket that is its own. */
import { randomUUID } from 'node:crypto';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { type S3DataStoreOptions, s3DataStore } from '../../src/drivers/data/s3/index.ts';
import type { DataStore, Durable, Sink } from '../../src/ports/data-store.ts';
import type { S3Connection } from '../services/s3-server.ts';
import type { Owner } from './temporary.ts';

/** One for all tests, each with a prefix of its own. */
export const testBucket = 'sluice-tests';

/** Options of a store in which nothing is yet. */
export const s3Options = (server: S3Connection): S3DataStoreOptions & { readonly prefix: string } => ({
  ...server,
  bucket: testBucket,
  prefix: `test-${randomUUID()}`,
});

/** Opens a store that is closed with the test; what is in it goes with the server. */
export const openS3 = async (
  t: Owner,
  server: S3Connection,
  options: Partial<S3DataStoreOptions> = {},
): Promise<DataStore> => {
  const store = await s3DataStore({ ...s3Options(server), ...options });
  t.teardown(() => store.close());
  return store;
};

/** What a record makes of the `Durable`s of a sink: they go through JSON, and the last one counts. */
export class KeptRecord {
  #last: Durable;

  constructor(last: Durable = { offset: 0 }) {
    this.#last = last;
  }

  get last(): Durable {
    return this.#last;
  }

  save(durable: Durable): void {
    this.#last = JSON.parse(JSON.stringify(durable));
  }

  readonly keep = async (change: (last: Durable) => Durable): Promise<void> => this.save(change(this.#last));
}

/** Gives a sink the bytes as a socket would, in chunks of their own. */
export const pour = async (sink: Sink, bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length; at += 65_536) {
    if (!sink.write(Buffer.from(bytes.subarray(at, at + 65_536)))) await sink.drained();
  }
};

/** One PATCH of `bytes`, a slice of the whole file, at the offset of the record. */
export const patchRecord = async (
  store: DataStore,
  key: string,
  record: KeptRecord,
  bytes: Buffer,
  length: number | undefined,
): Promise<void> => {
  const sink = await store.append(key, record.last, { length, keep: record.keep, owned: true });
  try {
    await pour(sink, bytes);
    const end = record.last.offset + bytes.length;
    record.save(await sink.finish(end === length ? { length } : {}));
  } finally {
    await sink.close();
  }
};

/** Everything that the server holds of the store: names of objects, and of multipart uploads that are open. */
export const leftovers = async (server: S3Connection, prefix: string) => {
  const client = new S3Client({
    endpoint: server.endpoint,
    region: server.region,
    credentials: server,
    forcePathStyle: true,
  });
  const place = { Bucket: testBucket, Prefix: `${prefix}/` };
  const objects = await client.send(new ListObjectsV2Command(place));
  const uploads = await client.send(new ListMultipartUploadsCommand(place));
  client.destroy();
  const names = (list: readonly { Key?: string | undefined }[] = []) =>
    list.map(({ Key = '' }) => Key.slice(place.Prefix.length));
  return { objects: names(objects.Contents), uploads: names(uploads.Uploads) };
};
