/** The event that a record ends with, for readers who come when its log is gone. */
import type { ServiceEvent } from './event.ts';
import { isEnded, type JobRecord } from './job.ts';
import { isSettled, type UploadRecord } from './upload.ts';

const unknown = { code: 'INTERNAL_ERROR', message: 'The cause was not recorded' } as const;

/** `undefined` while the upload can still change. */
export const endOfUpload = (upload: UploadRecord): ServiceEvent | undefined => {
  if (!isSettled(upload)) return undefined;
  if (upload.status === 'completed') return { type: 'upload_complete' };
  return { type: 'upload_error', error: upload.error ?? unknown };
};

/** `undefined` while the job can still change. */
export const endOfJob = (job: JobRecord): ServiceEvent | undefined => {
  if (!isEnded(job)) return undefined;
  if (job.status === 'failed') return { type: 'flow_error', error: job.error ?? unknown };
  return { type: job.status === 'completed' ? 'flow_complete' : 'flow_cancelled' };
};
