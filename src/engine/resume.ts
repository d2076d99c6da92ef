import type { Readable } from 'node:stream';
import { ServiceError } from '../domain/errors.ts';
import { findTask, isEnded, isTaskSettled, type JobRecord, withTask } from '../domain/job.ts';
import { isSettled, type UploadRecord } from '../domain/upload.ts';
import type { Entry } from '../ports/kv-store.ts';
import { definitionOf } from './definitions.ts';
import {
  checkOperation,
  type InputContext,
  type InputOperation,
  type InputRef,
  maxFilesOf,
  openInput,
} from './inputs.ts';
import { type EngineDeps, findJob, updateJob } from './records.ts';
import type { WakeJob } from './wake.ts';

export interface ResumeRequest {
  readonly jobId: string;
  readonly nodeId: string;
  readonly clientId: string | undefined;
  /** Absent: continue if the input's uploads are complete. */
  readonly newData?: InputOperation | undefined;
  /** The input's bytes themselves, and their number when the request says it. */
  readonly body?: { readonly stream: Readable; readonly length: number | undefined } | undefined;
}

/** Continues a job at an input; idempotent in every state. */
export type ResumeJob = (request: ResumeRequest) => Promise<JobRecord>;

/** Appends a whole body to an upload; handed across from `uploads`. */
export type AppendBody = (request: {
  readonly id: string;
  readonly clientId: string | undefined;
  readonly contentLength: number | undefined;
  readonly body: Readable;
}) => Promise<UploadRecord>;

/** Errors: `FLOW_JOB_NOT_FOUND`, `NODE_NOT_FOUND`, `INVALID_JOB_STATE`, those of the operation and of the upload. */
export const createResume =
  (deps: EngineDeps & { readonly wake: WakeJob; readonly append: AppendBody }): ResumeJob =>
  async (request) => {
    const entry = await findJob(deps, request.jobId, request.clientId);
    const task = findTask(entry.value, request.nodeId);
    if (task === undefined) throw new ServiceError('NODE_NOT_FOUND', `The job has no node "${request.nodeId}"`);
    if (isEnded(entry.value) || isTaskSettled(task)) return entry.value;
    if (task.uploads === undefined) {
      throw new ServiceError('INVALID_JOB_STATE', `Node "${request.nodeId}" is not an input`);
    }
    if (request.newData !== undefined) await attach(deps, entry, request, request.newData);
    if (request.body !== undefined) await fill(deps, entry.value, request, request.body);
    await deps.wake(request.jobId);
    return (await findJob(deps, request.jobId, request.clientId)).value;
  };

const attach = async (
  deps: EngineDeps,
  entry: Entry<JobRecord>,
  { nodeId, clientId }: ResumeRequest,
  operation: InputOperation,
): Promise<void> => {
  const flow = await definitionOf(deps, entry.value);
  const context: InputContext = { jobId: entry.value.id, flow, storageId: entry.value.storageId, clientId };
  await checkOperation(deps, context, nodeId, operation);
  await attachUpload(deps, entry, nodeId, maxFilesOf(flow, nodeId), await openInput(deps, context, nodeId, operation));
};

/**
 * Puts the upload among those of the input: in place of an untouched placeholder, else behind the others. Throws
 * `INVALID_JOB_STATE` when the input takes no more, and gives the upload up if the job has made it.
 */
export const attachUpload = async (
  deps: EngineDeps,
  entry: Entry<JobRecord>,
  nodeId: string,
  maxFiles: number,
  ref: InputRef,
): Promise<void> => {
  const placeholder = await findPlaceholder(deps, entry.value, nodeId);
  const attached = await updateJob(deps, entry, (job) => withUpload(job, nodeId, maxFiles, ref, placeholder)).catch(
    async (error: unknown) => {
      if (ref.owned) await deps.uploads.abandon(ref.id);
      throw error;
    },
  );
  if (attached !== undefined && placeholder !== undefined) await deps.uploads.abandon(placeholder);
};

const withUpload = (
  job: JobRecord,
  nodeId: string,
  maxFiles: number,
  ref: InputRef,
  placeholder: string | undefined,
): { readonly value: JobRecord } | undefined => {
  const task = findTask(job, nodeId);
  const uploads = task?.uploads ?? [];
  if (uploads.some(({ id }) => id === ref.id)) return undefined;
  const others = uploads.filter(({ id }) => id !== placeholder);
  // It may have got them while this upload was being made.
  if (isEnded(job) || task === undefined || isTaskSettled(task) || others.length >= maxFiles) {
    throw new ServiceError('INVALID_JOB_STATE', `Input "${nodeId}" has all its files`);
  }
  return { value: withTask(job, nodeId, { uploads: [...others, ref] }) };
};

/** The upload that was made because the client had said nothing, as long as no byte has come for it. */
const findPlaceholder = async (deps: EngineDeps, job: JobRecord, nodeId: string): Promise<string | undefined> => {
  for (const { id, owned } of findTask(job, nodeId)?.uploads ?? []) {
    const upload = (await deps.kvStore.get('uploads', id))?.value;
    if (owned && upload?.status === 'created' && upload.size === undefined) return id;
  }
  return undefined;
};

const fill = async (
  deps: EngineDeps & { readonly append: AppendBody },
  job: JobRecord,
  { nodeId, clientId }: ResumeRequest,
  body: NonNullable<ResumeRequest['body']>,
): Promise<void> => {
  for (const { id } of findTask(job, nodeId)?.uploads ?? []) {
    const upload = (await deps.kvStore.get('uploads', id))?.value;
    if (upload === undefined || isSettled(upload)) continue;
    await deps.append({ id, clientId, contentLength: body.length, body: body.stream });
    await deps.uploads.finalize(id, clientId);
    return;
  }
  throw new ServiceError('INVALID_JOB_STATE', `Input "${nodeId}" waits for no bytes`);
};
