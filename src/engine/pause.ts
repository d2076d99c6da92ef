import { ServiceError } from '../domain/errors.ts';
import { isEnded, isHeldBack, type JobRecord, withoutPause, withWaitCounted } from '../domain/job.ts';
import type { Entry } from '../ports/kv-store.ts';
import { failedJob, failureEvents, longestRunning } from './end.ts';
import { type EngineDeps, findJob, updateJob } from './records.ts';
import type { WakeJob } from './wake.ts';

export interface PauseJobs {
  /**
   * Stops a job for a while: nodes that run come to their checkpoints, others do not begin. A second time changes
   * nothing. One that nobody resumes fails with `TIMEOUT` in the end (`retention.pause`). Errors: `FLOW_JOB_NOT_FOUND`, `INVALID_JOB_STATE` (it has ended).
   */
  pause(jobId: string, clientId: string | undefined): Promise<JobRecord>;
  /**
   * Lets a job go on that was stopped; one that was not stays as it is. Errors: `FLOW_JOB_NOT_FOUND`,
   * `INVALID_JOB_STATE` (it has ended).
   */
  unpause(jobId: string, clientId: string | undefined): Promise<JobRecord>;
}

export const createPause = (deps: EngineDeps & { readonly wake: WakeJob }): PauseJobs => ({
  async pause(jobId, clientId) {
    const entry = await findJob(deps, jobId, clientId);
    const paused = await updateJob(deps, entry, (job) => {
      requireAlive(job);
      if (isHeldBack(job)) return undefined;
      // A holder hears of it, and leaves when what runs has come to its end.
      const now = deps.clock.now();
      const until = { pausedUntil: now + deps.retention.pause };
      return {
        value: { ...withWaitCounted(job, now), status: 'paused', pauseReason: 'user', ...until },
        events: [{ type: 'flow_paused' }],
      };
    });
    return paused?.value ?? (await findJob(deps, jobId, clientId)).value;
  },
  async unpause(jobId, clientId) {
    const entry = await findJob(deps, jobId, clientId);
    await updateJob(deps, entry, (job) => {
      requireAlive(job);
      if (!isHeldBack(job)) return undefined;
      const status = isHeld(deps, job) ? 'running' : 'pending';
      return { value: { ...withoutPause(job), status }, events: [{ type: 'flow_resumed' }] };
    });
    await deps.wake(jobId);
    return (await findJob(deps, jobId, clientId)).value;
  },
});

const isHeld = ({ clock }: Pick<EngineDeps, 'clock'>, { lease }: JobRecord): boolean =>
  lease !== undefined && lease.until > clock.now();

/** Lets a job fail that nobody has resumed in time (`TIMEOUT`); it can be tried again like any other that has failed. */
export const endPause = async (deps: EngineDeps, entry: Entry<JobRecord>): Promise<void> => {
  await updateJob(deps, entry, (job) => {
    const now = deps.clock.now();
    // What still runs comes to its checkpoint first.
    if (!isHeldBack(job) || (job.pausedUntil ?? now) > now || isHeld(deps, job)) return undefined;
    const message = 'The job was stopped, and nobody has resumed it in time';
    const error = { code: 'TIMEOUT' as const, message, nodeId: longestRunning(job) };
    const failed = failedJob(job, error, new Date(now).toISOString());
    return { value: { ...failed, epoch: job.epoch + 1 }, events: failureEvents(error) };
  });
};

const requireAlive = (job: JobRecord): void => {
  if (isEnded(job)) throw new ServiceError('INVALID_JOB_STATE', `The job has ended: it is ${job.status}`);
};
