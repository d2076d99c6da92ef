import { isEnded } from '../domain/job.ts';
import { type EngineDeps, updateJob } from './records.ts';

/**
 * Has the job looked at: adds one to the record's `wakes` and enqueues an entry of that number, so that neither a busy
 * holder nor a queue that ignores known ids can lose it (DESIGN 4). A job that has ended is left alone.
 */
export type WakeJob = (jobId: string) => Promise<void>;

export const createWake =
  (deps: EngineDeps): WakeJob =>
  async (jobId) => {
    const entry = await deps.kvStore.get('jobs', jobId);
    if (entry === undefined) return;
    const woken = await updateJob(deps, entry, (job) =>
      isEnded(job) ? undefined : { value: { ...job, wakes: job.wakes + 1 } },
    );
    if (woken === undefined) return;
    const { wakes, lease } = woken.value;
    // A holder hears of the record, and leaves it only when it has seen this. Should it be dead, the entry finds the job
    // free: one that comes sooner would be dropped.
    const held = (lease?.until ?? 0) - deps.clock.now();
    await deps.queue.enqueue({ id: `${jobId}-${wakes}`, jobId }, held > 0 ? { delayMs: held } : {});
    await deps.eventBroadcaster.notify('jobs', jobId);
  };
