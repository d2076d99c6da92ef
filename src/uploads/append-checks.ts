/** What a PATCH can be refused for before a byte of it is read, and the errors that say so. */
import { ServiceError } from '../domain/errors.ts';
import type { UploadRecord } from '../domain/upload.ts';
import type { Announced } from './append-request.ts';
import { type Ceiling, type CeilingDeps, ceilingOf } from './ceiling.ts';
import { requireSizeWithin } from './create.ts';
import { requireAlive } from './records.ts';

/** Refuses what can be refused at all, and says how far the upload may grow. */
export const requireAppendable = async (
  deps: CeilingDeps,
  upload: UploadRecord,
  request: Announced,
): Promise<Ceiling> => {
  requireAlive(upload);
  const { offset, uploadLength, contentLength = 0 } = request;
  if (offset !== undefined && offset !== upload.offset) throw offsetMismatch(upload, offset);
  if (uploadLength !== undefined) requireLength(upload, uploadLength, deps.maxUploadSize);
  const ceiling = await ceilingOf(deps, uploadLength === undefined ? upload : { ...upload, size: uploadLength });
  const passes = upload.offset + contentLength > ceiling.size;
  if (passes && !mayBeUndelivered(upload, request)) throw ceiling.error(upload);
  return ceiling;
};

const requireLength = (upload: UploadRecord, length: number, maxUploadSize: number): void => {
  requireSizeWithin(length, maxUploadSize);
  if ((upload.size ?? length) === length && length >= upload.offset) return;
  throw new ServiceError('VALIDATION_ERROR', `Upload-Length ${length} does not fit the upload`, {
    details: { field: 'headers.upload-length' },
  });
};

/** The body may be the one that brought the last byte, once more (WIRE 1, rule 11); only its bytes can tell. */
export const isRepeatedLast = (upload: UploadRecord, { offset, contentLength }: Announced): boolean => {
  if (upload.status !== 'completed' || offset === undefined || offset >= upload.offset) return false;
  return contentLength === undefined || offset + contentLength === upload.offset;
};

/** The body may be the one before it, whose answer is known to be lost (WIRE 1, rule 3); only its bytes can tell. */
export const mayBeUndelivered = ({ undelivered }: UploadRecord, { offset, contentLength }: Announced): boolean =>
  undelivered !== undefined && offset === undefined && (contentLength ?? undelivered.length) === undelivered.length;

export const offsetMismatch = (upload: UploadRecord, provided: number): ServiceError =>
  new ServiceError('INVALID_OFFSET', `The upload is at offset ${upload.offset}, not ${provided}`, {
    details: { 'expected-offset': upload.offset, 'provided-offset': provided },
  });
