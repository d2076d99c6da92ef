import { isEnded, isSaved, type JobRecord, withoutLease, withoutPause, withWaitCounted } from '../domain/job.ts';
import { type EngineDeps, findJob, updateJob } from './records.ts';
import { sweepEnded } from './sweep.ts';

/**
 * Cancels a job at once, wherever it runs: the record says so first, and its holder lets go when it is woken. A job
 * that has ended stays as it is. Errors: `FLOW_JOB_NOT_FOUND`.
 */
export type CancelJob = (jobId: string, clientId: string | undefined) => Promise<JobRecord>;

export const createCancelJob =
  (deps: EngineDeps): CancelJob =>
  async (jobId, clientId) => {
    const entry = await findJob(deps, jobId, clientId);
    const cancelled = await updateJob(deps, entry, (job) => {
      if (isEnded(job)) return undefined;
      const now = deps.clock.now();
      const rest = withoutPause(withWaitCounted(withoutLease(job), now));
      const endedAt = new Date(now).toISOString();
      const tasks = job.tasks.map((task) => (isSaved(task) ? task : { ...task, status: 'cancelled' as const }));
      const value: JobRecord = { ...rest, tasks, status: 'cancelled', endedAt, epoch: job.epoch + 1, leftovers: true };
      return { value, events: [{ type: 'flow_cancelled' }] };
    });
    if (cancelled === undefined) return (await findJob(deps, jobId, clientId)).value;
    // It is cancelled, whatever becomes of its rubbish: recovery tries again.
    await sweepEnded(deps, cancelled).catch((error: unknown) => deps.onError(error, { jobId }));
    return cancelled.value;
  };
