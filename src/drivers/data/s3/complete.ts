/** The end of a multipart upload, of which only a look at the object is sure (tus-node-server #877, supabase #41578). */
import { ServiceError } from '../../../domain/errors.ts';
import type { Bucket } from './bucket.ts';
import { accessFailure, broken, storeFailure } from './failures.ts';
import type { Part } from './state.ts';

export interface Completion {
  readonly uploadId: string;
  readonly parts: readonly Part[];
  /** Bytes of all parts. */
  readonly length: number;
}

/**
 * Makes one object of the parts. Safe to repeat: an upload that is gone because it was completed has left the object.
 * The list is the record's; "ListParts" is not for this (S3 API, CompleteMultipartUpload).
 */
export const completeUpload = async (bucket: Bucket, name: string, completion: Completion): Promise<void> => {
  const { uploadId, length } = completion;
  const parts = completion.parts.map(([number, etag]) => ({ number, etag }));
  const failure = await bucket.complete(name, uploadId, parts).then(() => undefined, accessFailure);
  const size = await bucket.sizeOf(name).catch((error: unknown) => {
    throw storeFailure(error);
  });
  if (size === length) return;
  throw failure ?? wrongSize(size, length);
};

/** The object is there, with so many bytes. */
export const requireSize = async (bucket: Bucket, name: string, length: number): Promise<void> => {
  const size = await bucket.sizeOf(name).catch((error: unknown) => {
    throw storeFailure(error);
  });
  if (size === undefined) throw new ServiceError('FILE_NO_LONGER_EXISTS');
  if (size !== length) throw wrongSize(size, length);
};

const wrongSize = (size: number | undefined, length: number): ServiceError =>
  broken(`The object has ${size ?? 'no'} bytes instead of ${length}`);
