import { ServiceError } from '../domain/errors.ts';
import { readMetadata } from '../domain/metadata.ts';
import type { JsonValue, UploadFlow, UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { CompleteUpload } from './complete.ts';
import { saveUpload, type UploadDeps } from './records.ts';

/** What a client says of a new upload. Sizes are bytes. */
export interface NewUpload {
  readonly fileName?: string | undefined;
  /** Required unless `uploadLengthDeferred`. */
  readonly size?: number | undefined;
  /** Media type, a claim. */
  readonly type?: string | undefined;
  /** Default: `default`. */
  readonly storageId?: string | undefined;
  /** See `domain/metadata`. */
  readonly metadata?: unknown;
  /** Hex SHA-256 of the whole file, verified on the last byte. */
  readonly checksum?: string | undefined;
  readonly checksumAlgorithm?: string | undefined;
  /** Milliseconds since 1970. */
  readonly lastModified?: number | undefined;
  readonly uploadLengthDeferred?: boolean | undefined;
  readonly flow?: UploadFlow | undefined;
  readonly clientId?: string | undefined;
}

/** Creates an upload; one of zero bytes is complete at once. */
export type CreateUpload = (upload: NewUpload) => Promise<UploadRecord>;

/**
 * Errors: `VALIDATION_ERROR` (no size), `ERR_MAX_SIZE_EXCEEDED`, `QUOTA_EXCEEDED`, `UNSUPPORTED_CHECKSUM_ALGORITHM`,
 * `INVALID_METADATA`, `STORAGE_NOT_FOUND`.
 */
export const createCreateUpload =
  (deps: UploadDeps & { readonly complete: CompleteUpload; readonly maxUploadSize: number }): CreateUpload =>
  async (upload) => {
    const record = newRecord(deps, upload);
    deps.storage(record.storageId);
    const events = [{ type: 'upload_started' as const }];
    const created = await saveUpload(deps, { value: record, version: 0 }, {}, { events });
    if (created === undefined) throw new ServiceError('INTERNAL_ERROR');
    const entry: Entry<UploadRecord> = record.size === 0 ? await deps.complete(created, {}) : created;
    await deps.kvStore.flush();
    return entry.value;
  };

const newRecord = (deps: UploadDeps & { readonly maxUploadSize: number }, upload: NewUpload): UploadRecord => {
  const id = deps.clock.newId();
  const now = new Date(deps.clock.now()).toISOString();
  const { lastModified } = upload;
  return {
    id,
    ...(upload.clientId === undefined ? {} : { clientId: upload.clientId }),
    storageId: upload.storageId ?? 'default',
    key: `uploads/${id}`,
    offset: 0,
    ...declaredSize(upload, deps.maxUploadSize),
    status: 'created',
    fileName: upload.fileName ?? '',
    type: upload.type ?? '',
    custom: {
      ...requireShallow(readMetadata(upload.metadata)),
      ...(lastModified === undefined ? {} : { lastModified }),
    },
    ...declaredChecksum(upload),
    ...(upload.flow === undefined ? {} : { flow: upload.flow }),
    seq: 0,
    createdAt: now,
    updatedAt: now,
  };
};

/** Levels of metadata: some thousand would be more than can be written as JSON again. */
const maxDepth = 32;

const isWithin = (value: JsonValue, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((one) => isWithin(one, levels - 1)));

const requireShallow = (metadata: UploadRecord['custom']): UploadRecord['custom'] => {
  if (isWithin(metadata, maxDepth)) return metadata;
  throw new ServiceError('INVALID_METADATA', `The metadata has more than ${maxDepth} levels`);
};

const declaredSize = (upload: NewUpload, maxUploadSize: number): { size?: number } => {
  // Clients that defer the length send `size: 0` beside it (WIRE 1, rule 8).
  if (upload.uploadLengthDeferred === true) return {};
  if (upload.size === undefined) {
    throw new ServiceError('VALIDATION_ERROR', 'body.size is missing (or set uploadLengthDeferred)', {
      details: { field: 'body.size' },
    });
  }
  requireSizeWithin(upload.size, maxUploadSize);
  return { size: upload.size };
};

/** Refuses sizes over the limit of the service. */
export const requireSizeWithin = (size: number, maxUploadSize: number): void => {
  if (size <= maxUploadSize) return;
  throw new ServiceError('ERR_MAX_SIZE_EXCEEDED', `The upload has ${size} bytes, at most ${maxUploadSize} are taken`, {
    details: { limit: 'size', max: maxUploadSize, actual: size },
  });
};

/** SHA-256 of no bytes: some browser clients send it for every file, whatever is in it (WIRE 1, rule 7). */
const sha256OfNothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const declaredChecksum = (upload: NewUpload): { checksum?: string } => {
  const { checksum, checksumAlgorithm = 'sha256' } = upload;
  if (checksumAlgorithm !== 'sha256') {
    throw new ServiceError('UNSUPPORTED_CHECKSUM_ALGORITHM', `checksumAlgorithm ${checksumAlgorithm} is not sha256`);
  }
  const value = checksum?.toLowerCase();
  return value === undefined || (value === sha256OfNothing && upload.size !== 0) ? {} : { checksum: value };
};
