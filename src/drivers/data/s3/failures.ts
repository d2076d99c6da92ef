/** From the answers of an S3 server, or their absence, to the codes of the service. */
import { ServiceError } from '../../../domain/errors.ts';

/** What the SDK's errors carry: the server's code is their name (S3 API, "Error responses"). */
interface Failure {
  readonly name?: unknown;
  readonly Code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const nameOf = (error: unknown): unknown => (error as Failure | undefined)?.name;
const statusOf = (error: unknown): number | undefined => (error as Failure | undefined)?.$metadata?.httpStatusCode;

/** A HEAD has no body and says `NotFound`; Ceph and Swift differ in what they say of an upload that is gone. */
const missing: ReadonlySet<unknown> = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload']);

/** Ceph's quota, MinIO's disk, AWS Outposts. */
const full: ReadonlySet<unknown> = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientCapacity']);

/** Refusals that are not about the request but about how it came through, or when. */
const passing: ReadonlySet<unknown> = new Set([
  'IncompleteBody',
  'RequestTimeout',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'OperationAborted',
  'ConcurrentModification',
  'SlowDown',
  'TooManyRequests',
]);

/** Whether the error says that there is no such object or multipart upload. Some servers send a bare 404. */
export const isMissing = (error: unknown): boolean =>
  missing.has(nameOf(error)) || (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket');

const isFull = (error: unknown): boolean => full.has(nameOf(error)) || statusOf(error) === 507;

/** Whether the same request may succeed later: no answer, a bad one, a 5xx, a 200 that carries an error. */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof ServiceError) return error.code === 'UNAVAILABLE';
  if (isFull(error) || isMissing(error)) return false;
  const status = statusOf(error);
  if (passing.has(nameOf(error)) || status === undefined || status < 300) return true;
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
};

/** Seconds after which a client may try again; the store has been asked several times by then. */
const retryAfter = 2;

/** Any failure as the error of the port. */
export const storeFailure = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  if (isFull(error)) return new ServiceError('STORAGE_FULL', undefined, { cause: error });
  if (!isPassing(error)) return new ServiceError('STORAGE_ERROR', undefined, { cause: error });
  return new ServiceError('UNAVAILABLE', 'The storage does not answer', { cause: error, retryAfter });
};

/** Any failure where the object should have been there. */
export const accessFailure = (error: unknown): ServiceError =>
  isMissing(error) ? new ServiceError('FILE_NO_LONGER_EXISTS', undefined, { cause: error }) : storeFailure(error);

/** Something is wrong that the server has not said. */
export const broken = (message: string): ServiceError =>
  new ServiceError('STORAGE_ERROR', undefined, { cause: new Error(message) });
