/** Removing what a job leaves behind. */
import type { JobRecord } from '../domain/job.ts';
import type { Entry } from '../ports/kv-store.ts';
import { type EngineDeps, updateJob } from './records.ts';
import { jobPrefix } from './run-node.ts';

/** Removes every file that the job made, but not those under `keep`. */
export const sweepFiles = async (deps: EngineDeps, job: JobRecord, keep: ReadonlySet<string>): Promise<void> => {
  const store = deps.storage(job.storageId);
  const keys = await store.list(jobPrefix(job.id));
  await Promise.all(keys.filter((key) => !keep.has(key)).map((key) => store.remove(key)));
};

/** Gives up the uploads that the job made and that have not come in, and the bytes of the others. */
export const sweepUploads = async (deps: EngineDeps, job: JobRecord, keep: ReadonlySet<string>): Promise<void> => {
  const owned = job.tasks.flatMap((task) => task.uploads ?? []).filter((upload) => upload.owned);
  for (const { id } of owned) {
    const key = (await deps.kvStore.get('uploads', id))?.value.key;
    if (key === undefined || keep.has(key)) continue;
    await deps.uploads.abandon(id);
    await deps.uploads.removeBytes(id);
  }
};

/**
 * Removes what a failed or cancelled job leaves behind, and says so in its record: a crash before that is made up for
 * by recovery. The uploads of a failed job stay, since it can be tried again.
 */
export const sweepEnded = async (deps: EngineDeps, ended: Entry<JobRecord>): Promise<void> => {
  if (ended.value.status === 'cancelled') await sweepUploads(deps, ended.value, new Set());
  await sweepFiles(deps, ended.value, new Set());
  await updateJob(deps, ended, ({ leftovers: _, ...value }) => ({ value }));
};
