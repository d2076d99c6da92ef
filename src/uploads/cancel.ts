import type { Owners } from '../ports/owners.ts';
import { asOwner } from './own.ts';
import { endUpload, findUpload, isAlive, removeBytes, requireAlive, saveUpload, type UploadDeps } from './records.ts';

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
        await endUpload(deps, id, 'cancelled', cancelled, isAlive);
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
      if (entry?.value.status !== 'completed' || entry.value.bytesRemoved === true) return;
      // In this order: whoever repeats it after a crash finds what is left to do.
      await removeBytes(deps, entry.value);
      if ((await saveUpload(deps, entry, { bytesRemoved: true })) !== undefined) return;
    }
  },
});
