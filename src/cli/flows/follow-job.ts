import type { JobRecord } from '../../domain/job.ts';
import type { Step } from '../../events/follow.ts';
import type { HttpServices } from '../../http/context.ts';

/** Tells each step of the job, and gives its record once it has ended. Throws when the signal is aborted before. */
export const followJob = async (
  { engine, follow }: Pick<HttpServices, 'engine' | 'follow'>,
  jobId: string,
  signal: AbortSignal,
  tell: (job: JobRecord, steps: readonly Step[]) => void,
): Promise<JobRecord> => {
  for await (const { record, steps } of follow('jobs', jobId, { since: 0, signal })) tell(record, steps);
  signal.throwIfAborted();
  return engine.getJob(jobId, undefined);
};
