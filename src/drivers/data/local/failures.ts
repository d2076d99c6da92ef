/** From the codes of the operating system to those of the service. */
import { ServiceError } from '../../../domain/errors.ts';

/** The `code` of a system error (`ENOENT`), if it has one. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const full: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** `ENOTDIR`: a part of the key is a file, so nothing can be below it. */
const missing: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);

/** Whether the error says that there is no such file. */
export const isMissing = (error: unknown): boolean => missing.has(codeOf(error));

/** Any failure of a write as the error of the port. */
export const writeFailure = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  return new ServiceError(full.has(codeOf(error)) ? 'STORAGE_FULL' : 'STORAGE_ERROR', undefined, { cause: error });
};

/** Any failure where the file should have been there. */
export const accessFailure = (error: unknown): ServiceError =>
  isMissing(error) ? new ServiceError('FILE_NO_LONGER_EXISTS', undefined, { cause: error }) : writeFailure(error);
