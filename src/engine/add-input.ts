import { ServiceError } from '../domain/errors.ts';
import { findTask } from '../domain/job.ts';
import type { UploadRecord } from '../domain/upload.ts';
import { definitionOf } from './definitions.ts';
import { maxFilesOf, requireAccepted } from './inputs.ts';
import { type EngineDeps, findJob, type InputUpload } from './records.ts';
import { attachUpload } from './resume.ts';

/**
 * Creates an upload for a waiting input of an existing job, as its client asked for with `flow` (WIRE 1).
 *
 * Errors: `FLOW_JOB_NOT_FOUND`, `NODE_NOT_FOUND`, `INVALID_JOB_STATE` (the input does not wait), those of the input's
 * limits and of creation.
 */
export type AddInput = (upload: InputUpload) => Promise<UploadRecord>;

export const createAddInput =
  (deps: EngineDeps): AddInput =>
  async (upload) => {
    const { jobId, nodeId, flowId } = upload.flow;
    const entry = await findJob(deps, jobId, upload.clientId);
    if (entry.value.flowId !== flowId) throw new ServiceError('FLOW_JOB_NOT_FOUND');
    const task = findTask(entry.value, nodeId);
    if (task === undefined) throw new ServiceError('NODE_NOT_FOUND', `The job has no node "${nodeId}"`);
    if (task.status !== 'paused' || task.uploads === undefined) {
      throw new ServiceError('INVALID_JOB_STATE', `Node "${nodeId}" does not wait for an upload`);
    }
    const flow = await definitionOf(deps, entry.value);
    requireAccepted(flow, nodeId, { type: upload.type ?? '', size: upload.size });
    const created = await deps.uploads.create(upload);
    await attachUpload(deps, entry, nodeId, maxFilesOf(flow, nodeId), { id: created.id, owned: true });
    return created;
  };
