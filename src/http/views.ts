/** Records as clients see them (WIRE 1 and 3). An absent fact is an absent field, never null. */
import type { FlowDefinition } from '../domain/flow.ts';
import { type JobFile, type JobOutput, type JobRecord, progressOf, type TaskRecord } from '../domain/job.ts';
import { isSettled, type UploadRecord } from '../domain/upload.ts';
import type { ReadJobs } from '../engine/read.ts';
import type { ReadUploads } from '../uploads/read.ts';
import { type Links, outputFileId } from './links.ts';

interface ViewContext {
  readonly uploads: Pick<ReadUploads, 'capabilities'>;
  readonly engine: Pick<ReadJobs, 'inputUploads'>;
  readonly links: Links;
}

/** Leaves out the fields that are undefined. */
const present = <T extends Record<string, unknown>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** An upload. */
export const viewUpload = ({ uploads, links }: ViewContext, upload: UploadRecord) =>
  present({
    id: upload.id,
    offset: upload.offset,
    size: upload.size,
    status: upload.status,
    metadata: { ...upload.custom, ...present({ size: upload.size }), fileName: upload.fileName, type: upload.type },
    detectedType: upload.detectedType,
    storage: { id: upload.storageId, type: uploads.capabilities(upload.storageId).type },
    creationDate: upload.createdAt,
    expiresAt: isSettled(upload) ? undefined : upload.expiresAt,
    url: upload.status === 'completed' && upload.bytesRemoved !== true ? links.file(upload.id) : undefined,
    sizeIsDeferred: upload.size === undefined ? true : undefined,
    checksum: upload.checksum,
    checksumAlgorithm: upload.checksum === undefined ? undefined : 'sha256',
    flow: upload.flow,
    error: upload.error,
  });

/** The final outputs with their addresses. */
export const viewOutputs = (job: JobRecord, links: Links) =>
  job.outputs === undefined
    ? undefined
    : Object.fromEntries(
        Object.entries(job.outputs).map(([key, output]) => [key, viewOutput(job, key, output, links)]),
      );

const viewOutput = (job: JobRecord, key: string, output: JobOutput, links: Links) => ({
  url: links.file(output.uploadId ?? outputFileId(job.id, key)),
  ...viewFile(output),
  nodeId: output.nodeId,
});

const viewFile = (file: JobFile) =>
  present({ size: file.size, mimeType: file.mimeType, fileName: file.fileName, meta: file.meta });

/** A job, with the uploads that its inputs wait for. */
export const viewJob = async (context: ViewContext, job: JobRecord) => {
  const uploads = await context.engine.inputUploads(job);
  const outputs = viewOutputs(job, context.links);
  return present({
    id: job.id,
    jobId: job.id,
    flowId: job.flowId,
    storageId: job.storageId,
    clientId: job.clientId,
    status: job.status,
    pauseReason: job.pauseReason,
    progress: progressOf(job),
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
    startedAt: job.startedAt,
    endedAt: job.endedAt,
    duration: job.startedAt === undefined ? undefined : job.runningMs,
    tasks: job.tasks.map((task) => viewTask(context, task, uploads)),
    outputs,
    result: outputs === undefined ? undefined : Object.values(outputs),
    error: job.error,
    warnings: job.warnings === undefined ? undefined : [...job.warnings],
  });
};

const viewTask = (context: ViewContext, task: TaskRecord, uploads: ReadonlyMap<string, UploadRecord>) => {
  const inputs = (task.uploads ?? []).map(({ id }) => uploads.get(id)).filter((upload) => upload !== undefined);
  const results: Record<string, unknown>[] =
    inputs.length > 0 ? inputs.map((upload) => viewUpload(context, upload)) : (task.files ?? []).map(viewFile);
  return present({
    nodeId: task.nodeId,
    status: task.status,
    attempt: task.attempt,
    result: results[0],
    results: results.length > 1 ? results : undefined,
    error: task.error,
    startedAt: task.startedAt,
    endedAt: task.endedAt,
  });
};

/** `kindName`: the display name of a kind. */
export const viewFlow = (flow: FlowDefinition, kindName: (kind: string) => string) => ({
  ...flow,
  edges: flow.edges.map((edge) => ({ ...edge })),
  nodes: Object.fromEntries(
    Object.entries(flow.nodes).map(([key, node]) => [key, { ...node, name: kindName(node.type) }]),
  ),
});
