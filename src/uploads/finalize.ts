import { ServiceError } from '../domain/errors.ts';
import { isFull, type UploadRecord } from '../domain/upload.ts';
import type { Owners } from '../ports/owners.ts';
import type { CompleteUpload } from './complete.ts';
import { asOwner } from './own.ts';
import { findUpload, requireAlive, type UploadDeps } from './records.ts';

/**
 * Declares that all bytes have come: fixes a deferred length at the offset and completes the upload. A completed one
 * is returned as it is. Errors: those of reading, and `INVALID_OFFSET` when bytes of a known length are missing.
 */
export type FinalizeUpload = (id: string, clientId: string | undefined) => Promise<UploadRecord>;

export const createFinalize =
  (deps: UploadDeps & { readonly complete: CompleteUpload; readonly owners: Owners }): FinalizeUpload =>
  async (id, clientId) => {
    const completed = await asOwner(deps.owners, id, 'now', {
      check: async () => {
        const entry = await findUpload(deps, id, clientId);
        requireAlive(entry.value);
        return { ...entry, value: { ...entry.value, size: entry.value.size ?? entry.value.offset } };
      },
      work: (owner, entry) => {
        requireFull(entry.value);
        return deps.complete(entry, { letGo: owner.release });
      },
    });
    await deps.kvStore.flush();
    return completed.value;
  };

const requireFull = (upload: UploadRecord): void => {
  if (isFull(upload)) return;
  throw new ServiceError('INVALID_OFFSET', `Only ${upload.offset} of ${upload.size} bytes have come`, {
    details: { 'expected-offset': upload.offset },
  });
};
