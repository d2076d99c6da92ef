import { isPast, isSettled, type UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { Owners } from '../ports/owners.ts';
import { asOwner } from './own.ts';
import { endUpload, type UploadDeps } from './records.ts';

const expired = { code: 'EXPIRED', message: 'The upload was not finished in time' } as const;

export interface ExpireUploads {
  /** Ends an incomplete upload whose time has come. What a running writer commits when it is displaced is new time. */
  expire(entry: Entry<UploadRecord>): Promise<void>;
  /** Removes the record and the log of an ended upload whose time as a tombstone has come: it is unknown from then on. */
  forget(entry: Entry<UploadRecord>): Promise<void>;
}

export const createExpire = (deps: UploadDeps & { readonly owners: Owners }): ExpireUploads => {
  const isOver = (upload: UploadRecord): boolean => !isSettled(upload) && isPast(upload, deps.clock.now());
  return {
    async expire({ value }) {
      if (!isOver(value)) return;
      const end = () => endUpload(deps, value.id, 'cancelled', expired, isOver);
      await asOwner(deps.owners, value.id, 'now', { check: async () => {}, work: end });
    },
    async forget({ value }) {
      if (!isPast(value, deps.clock.now())) return;
      await deps.kvStore.remove('uploads', value.id);
    },
  };
};
