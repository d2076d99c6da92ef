import { ServiceError } from '../domain/errors.ts';
import { isFull, isSettled, type UploadRecord } from '../domain/upload.ts';
import type { CompleteUpload } from './complete.ts';
import type { Owners } from './owners.ts';
import { findUpload, requireAlive, type UploadDeps } from './records.ts';

/**
 * Declares that all bytes have come: fixes a deferred length at the offset and completes the upload. A completed one
 * is returned as it is. Errors: those of reading, and `INVALID_OFFSET` when bytes of a known length are missing.
 */
export type FinalizeUpload = (id: string, clientId: string | undefined) => Promise<UploadRecord>;

export const createFinalize =
  (deps: UploadDeps & { readonly complete: CompleteUpload; readonly owners: Owners }): FinalizeUpload =>
  async (id, clientId) => {
    await deps.owners.displace(id);
    const entry = await findUpload(deps, id, clientId);
    requireAlive(entry.value);
    if (isSettled(entry.value)) return entry.value;
    const sized = { ...entry, value: { ...entry.value, size: entry.value.size ?? entry.value.offset } };
    if (!isFull(sized.value)) {
      throw new ServiceError('INVALID_OFFSET', `Only ${sized.value.offset} of ${sized.value.size} bytes have come`, {
        details: { 'expected-offset': sized.value.offset },
      });
    }
    const completed = await deps.complete(sized, {});
    await deps.kvStore.flush();
    return completed.value;
  };
