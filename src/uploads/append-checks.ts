/** What a PATCH can be refused for before a byte of it is read, and the errors that say so. */
import { ServiceError } from '../domain/errors.ts';
import type { UploadRecord } from '../domain/upload.ts';
import { requireSizeWithin } from './create.ts';
import { requireAlive } from './records.ts';

/** What a request says of the body that it brings; see `AppendRequest`. */
export interface Announced {
  readonly offset?: number | undefined;
  readonly contentLength?: number | undefined;
  readonly uploadLength?: number | undefined;
}

export const requireAppendable = (upload: UploadRecord, request: Announced, maxUploadSize: number): void => {
  requireAlive(upload);
  const { offset, uploadLength, contentLength = 0 } = request;
  if (offset !== undefined && offset !== upload.offset) throw offsetMismatch(upload, offset);
  if (uploadLength !== undefined) requireLength(upload, uploadLength, maxUploadSize);
  const sized = uploadLength === undefined ? upload : { ...upload, size: uploadLength };
  const passes = upload.offset + contentLength > (sized.size ?? maxUploadSize);
  if (passes && !mayBeUndelivered(upload, request)) throw overrun(sized, maxUploadSize);
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

/** More bytes than the size of the upload, or than the service takes while it has none. */
export const overrun = ({ offset, size }: UploadRecord, maxUploadSize: number): ServiceError =>
  size === undefined
    ? new ServiceError('ERR_MAX_SIZE_EXCEEDED', `The upload would have more than ${maxUploadSize} bytes`, {
        details: { limit: 'size', max: maxUploadSize },
      })
    : new ServiceError('ERR_SIZE_EXCEEDED', `The body would pass the size of the upload (${size} bytes)`, {
        details: { offset, size },
      });
