import type { UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { CompleteUpload } from './complete.ts';
import { settleWithJob, type UploadDeps } from './records.ts';

/**
 * Takes the steps that a crash has cut off: finishes verifications, tells jobs of settled uploads. `until` is the
 * newest deadline to look at (milliseconds since 1970).
 */
export type RecoverUploads = (until: number) => Promise<void>;

const batch = 100;

export const createRecover =
  (
    deps: UploadDeps & { readonly complete: CompleteUpload; readonly onError: (error: unknown) => void },
  ): RecoverUploads =>
  async (until) => {
    for (const id of await deps.kvStore.due('uploads', until, batch)) {
      const entry = await deps.kvStore.get('uploads', id);
      if (entry !== undefined) await recover(deps, entry).catch(deps.onError);
    }
  };

const recover = async (
  deps: UploadDeps & { readonly complete: CompleteUpload },
  entry: Entry<UploadRecord>,
): Promise<void> => {
  if (entry.value.status === 'finalizing') await deps.complete(entry, {});
  else await settleWithJob(deps, entry);
};
