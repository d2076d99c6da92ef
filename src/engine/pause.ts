import { ServiceError } from '../domain/errors.ts';
import { isEnded, isHeldBack, type JobRecord } from '../domain/job.ts';
import { type EngineDeps, findJob, updateJob } from './records.ts';
import type { WakeJob } from './wake.ts';

export interface PauseJobs {
  /**
   * Stops a job for a while: nodes that run come to their checkpoints, others do not begin. A second time changes
   * nothing. Errors: `FLOW_JOB_NOT_FOUND`, `INVALID_JOB_STATE` (it has ended).
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
      return { value: { ...job, status: 'paused', pauseReason: 'user' }, events: [{ type: 'flow_paused' }] };
    });
    return paused?.value ?? (await findJob(deps, jobId, clientId)).value;
  },
  async unpause(jobId, clientId) {
    const entry = await findJob(deps, jobId, clientId);
    await updateJob(deps, entry, (job) => {
      requireAlive(job);
      if (!isHeldBack(job)) return undefined;
      const { pauseReason: _, ...rest } = job;
      const isHeld = job.lease !== undefined && job.lease.until > deps.clock.now();
      return { value: { ...rest, status: isHeld ? 'running' : 'pending' }, events: [{ type: 'flow_resumed' }] };
    });
    await deps.wake(jobId);
    return (await findJob(deps, jobId, clientId)).value;
  },
});

const requireAlive = (job: JobRecord): void => {
  if (isEnded(job)) throw new ServiceError('INVALID_JOB_STATE', `The job has ended: it is ${job.status}`);
};
