/** Removing what a job leaves behind. */
import type { JobRecord } from '../domain/job.ts';
import type { Entry } from '../ports/kv-store.ts';
import { type EngineDeps, updateJob } from './records.ts';
import { jobPrefix } from './run-node.ts';

const nothing: ReadonlySet<string> = new Set();

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
 * What stays of an ended job: the outputs of a complete one; what a failed one needs to be tried again from where it
 * stood. Nobody comes back to a cancelled one.
 */
export const keptKeys = (job: JobRecord): ReadonlySet<string> => {
  if (job.status === 'cancelled') return nothing;
  const files =
    job.status === 'failed' ? job.tasks.flatMap((task) => task.files ?? []) : Object.values(job.outputs ?? {});
  return new Set(files.map(({ key }) => key));
};

/** Removes what nobody needs of an ended job. */
export const sweep = async (deps: EngineDeps, ended: JobRecord): Promise<void> => {
  const keep = keptKeys(ended);
  if (ended.status !== 'failed') await sweepUploads(deps, ended, keep);
  await sweepFiles(deps, ended, keep);
};

/** Does so for a job that was ended before it was swept, and says so in its record; recovery makes up for a crash. */
export const sweepEnded = async (deps: EngineDeps, ended: Entry<JobRecord>): Promise<void> => {
  await sweep(deps, ended.value);
  await updateJob(deps, ended, ({ leftovers, ...value }) => (leftovers === undefined ? undefined : { value }));
};

/**
 * Before the files the record: whoever has the job tried again meanwhile is sooner or later than this, not in the
 * middle. `undefined`: sooner.
 */
const endRetries = (deps: EngineDeps, failed: Entry<JobRecord>): Promise<Entry<JobRecord> | undefined> =>
  updateJob(deps, failed, (job) =>
    job.status === 'failed' && job.epoch === failed.value.epoch
      ? { value: { ...job, swept: true, leftovers: true } }
      : undefined,
  );

/** The time of a failed job to be tried again is over: only its record stays. */
export const sweepFailed = async (deps: EngineDeps, failed: Entry<JobRecord>): Promise<void> => {
  const swept = await endRetries(deps, failed);
  if (swept === undefined) return;
  await sweepUploads(deps, swept.value, nothing);
  await sweepFiles(deps, swept.value, nothing);
  await updateJob(deps, swept, ({ leftovers: _, ...value }) => ({ value }));
};

/** Removes an ended job, its outputs, and the uploads that it made. */
export const removeJob = async (deps: EngineDeps, ended: Entry<JobRecord>): Promise<void> => {
  const job = ended.value;
  if (job.status === 'failed' && (await endRetries(deps, ended)) === undefined) return;
  await sweepUploads(deps, job, nothing);
  await sweepFiles(deps, job, nothing);
  await deps.kvStore.remove('jobs', job.id);
};
