import { isSettled, type UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { Owners } from '../ports/owners.ts';
import { asOwner } from './own.ts';
import { endUpload, findUpload, requireAlive, saveUpload, type UploadDeps } from './records.ts';

const cancelled = { code: 'CANCELLED', message: 'The upload was deleted' } as const;

export interface CancelUploads {
  /** Deletes an upload at its client's wish: a running writer stops first; a second time is `FILE_NO_LONGER_EXISTS`. */
  remove(id: string, clientId: string | undefined): Promise<void>;
  /** Ends an upload that its job needs no longer; an upload that has settled stays as it is. */
  abandon(id: string): Promise<void>;
  /** Removes the bytes of a completed upload but keeps its record. */
  removeBytes(id: string): Promise<void>;
}

export const createCancel = (deps: UploadDeps & { readonly owners: Owners }): CancelUploads => ({
  async remove(id, clientId) {
    // As the owner: a writer that came in between would put bytes where nobody looks for them any more.
    await asOwner(deps.owners, id, 'now', {
      check: async () => requireAlive((await findUpload(deps, id, clientId)).value),
      work: async () => {
        await endUpload(deps, id, 'cancelled', cancelled);
        await cancelCompleted(deps, id);
      },
    });
  },
  async abandon(id) {
    const end = () => endUpload(deps, id, 'cancelled', cancelled);
    await asOwner(deps.owners, id, 'now', { check: async () => {}, work: end });
  },
  async removeBytes(id) {
    for (;;) {
      const entry = await deps.kvStore.get('uploads', id);
      if (entry === undefined || !isSettled(entry.value) || entry.value.bytesRemoved === true) return;
      if ((await saveUpload(deps, entry, { bytesRemoved: true })) !== undefined) return removeFile(deps, entry.value);
    }
  },
});

/** A completed upload has had its terminal event already; deleting it only takes the file away. */
const cancelCompleted = async (deps: UploadDeps, id: string): Promise<void> => {
  for (;;) {
    const entry: Entry<UploadRecord> | undefined = await deps.kvStore.get('uploads', id);
    if (entry === undefined || entry.value.status !== 'completed') return;
    const saved = await saveUpload(deps, entry, { status: 'cancelled', error: cancelled });
    if (saved !== undefined) return removeFile(deps, entry.value);
  }
};

const removeFile = (deps: UploadDeps, upload: UploadRecord): Promise<void> =>
  deps.storage(upload.storageId).remove(upload.key);
