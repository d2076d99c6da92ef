import type { UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { CompleteUpload } from './complete.ts';
import type { ExpireUploads } from './expire.ts';
import { finishEnd, mustComplete, settleWithJob, type UploadDeps } from './records.ts';

/**
 * Takes the steps that are due: those that a crash has cut off (verifications, jobs of settled uploads that were not
 * told, bytes of ended ones) and the expiry of uploads and tombstones, which never comes early. `until` is the newest
 * deadline to look at (milliseconds since 1970).
 */
export type RecoverUploads = (until: number) => Promise<void>;

interface RecoverDeps extends UploadDeps, ExpireUploads {
  readonly complete: CompleteUpload;
  readonly onError: (error: unknown) => void;
}

/** Uploads looked at in one go: a service that comes back after days shall not be busy with them before it listens. */
const batch = 1000;

export const createRecover =
  (deps: RecoverDeps): RecoverUploads =>
  async (until) => {
    for (const id of await deps.kvStore.due('uploads', until, batch)) {
      const entry = await deps.kvStore.get('uploads', id);
      if (entry !== undefined) await recover(deps, entry).catch(deps.onError);
    }
  };

const recover = async (deps: RecoverDeps, entry: Entry<UploadRecord>): Promise<unknown> => {
  const { status, bytesRemoved } = entry.value;
  if (mustComplete(entry.value)) return deps.complete(entry, {});
  if (status === 'completed') return settleWithJob(deps, entry);
  if (status === 'created' || status === 'uploading') return deps.expire(entry);
  return bytesRemoved === true ? deps.forget(entry) : finishEnd(deps, entry);
};
