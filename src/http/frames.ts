/** What sockets send (WIRE 5): one flat JSON object for each thing that has happened. */
import { findTask, type JobRecord } from '../domain/job.ts';
import type { UploadRecord } from '../domain/upload.ts';
import type { Step } from '../events/follow.ts';
import type { Links } from './links.ts';
import { viewOutputs } from './views.ts';

export type Frame = { readonly type: string; readonly seq: number; readonly timestamp: string } & Record<
  string,
  unknown
>;

export const uploadFrame = (step: Step, upload: UploadRecord, links: Links): Frame => {
  const base = { ...step, uploadId: upload.id };
  switch (step.type) {
    case 'upload_started':
      return { ...base, fileName: upload.fileName, ...sizeOf(upload) };
    case 'upload_complete':
      return { ...base, url: links.file(upload.id) };
    case 'progress': {
      const progress =
        upload.size === undefined ? {} : { progress: upload.size === 0 ? 1 : upload.offset / upload.size };
      return { ...base, type: 'upload_progress', ...progress, bytesUploaded: upload.offset, ...sizeOf(upload) };
    }
    default:
      return base;
  }
};

const sizeOf = (upload: UploadRecord) => (upload.size === undefined ? {} : { size: upload.size });

/** `kindOf`: the kind of a node of the job's flow. */
export const jobFrame = (step: Step, job: JobRecord, links: Links, kindOf: (nodeId: string) => string): Frame => {
  if (step.type === 'progress') return nodeProgress(step, job, kindOf);
  if ('nodeId' in step) return { ...step, jobId: job.id, nodeType: kindOf(step.nodeId) };
  const base = { ...step, jobId: job.id, flowId: job.flowId };
  return step.type === 'flow_complete' ? { ...base, outputs: viewOutputs(job, links), duration: job.runningMs } : base;
};

const nodeProgress = (step: Step, job: JobRecord, kindOf: (nodeId: string) => string): Frame => {
  const nodeId = job.progressed?.nodeId ?? '';
  const task = findTask(job, nodeId);
  // One that is to run again has lost its own.
  const progress = task?.progress ?? (task?.status === 'completed' ? 1 : 0);
  return { ...step, type: 'node_progress', jobId: job.id, nodeId, nodeType: kindOf(nodeId), progress };
};
