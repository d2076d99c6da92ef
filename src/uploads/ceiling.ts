import { ServiceError } from '../domain/errors.ts';
import { noUsage, quotaExceeded } from '../domain/quota.ts';
import { isSettled, type UploadRecord } from '../domain/upload.ts';
import type { UploadDeps } from './records.ts';

/** How far an upload may grow. */
export interface Ceiling {
  /** Bytes. */
  readonly size: number;
  /** What a client is told that would pass it, with the upload as it has become. */
  error(upload: UploadRecord): ServiceError;
}

export type CeilingDeps = Pick<UploadDeps, 'kvStore' | 'quota'> & { readonly maxUploadSize: number };

/**
 * The ceiling as it is now: the upload's size, or while it has none the most that the service takes and that is left of
 * the client's quota. What other uploads take of the quota meanwhile shows when the bytes are committed.
 *
 * Errors: `QUOTA_EXCEEDED` for a size that is not yet counted and does not fit.
 */
export const ceilingOf = async (deps: CeilingDeps, upload: UploadRecord): Promise<Ceiling> => {
  const room = await quotaRoom(deps, upload);
  const { size } = upload;
  if (size !== undefined) {
    if (room !== undefined && size > room.size) throw room.error(upload);
    return { size, error: ({ offset }) => sizeExceeded(offset, size) };
  }
  const max = deps.maxUploadSize;
  return room !== undefined && room.size < max ? room : { size: max, error: () => maxSizeExceeded(max) };
};

/** What the quota leaves to the upload, if it is still to be asked. */
const quotaRoom = async (deps: CeilingDeps, upload: UploadRecord): Promise<Ceiling | undefined> => {
  const max = deps.quota.storedBytes;
  const { storedBytes: counted } = upload.counted ?? noUsage;
  if (max === undefined || upload.size === counted || isSettled(upload)) return undefined;
  const used = await deps.kvStore.usage(upload.clientId);
  // Never below what is there: the quota may have been narrowed since.
  const size = Math.max(upload.offset, counted + max - used.storedBytes);
  return { size, error: () => quotaExceeded('storedBytes', max, used) };
};

const sizeExceeded = (offset: number, size: number): ServiceError =>
  new ServiceError('ERR_SIZE_EXCEEDED', `The body would pass the size of the upload (${size} bytes)`, {
    details: { offset, size },
  });

const maxSizeExceeded = (max: number): ServiceError =>
  new ServiceError('ERR_MAX_SIZE_EXCEEDED', `The upload would have more than ${max} bytes`, {
    details: { limit: 'size', max },
  });
