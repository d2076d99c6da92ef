/** Removing what a job leaves behind. */
import type { JobRecord } from '../domain/job.ts';
import type { EngineDeps } from './records.ts';
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
