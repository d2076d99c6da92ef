/** The inputs of a job: what a client may say of them, and the uploads that stand for them. */
import { ServiceError } from '../domain/errors.ts';
import { safeFileName } from '../domain/file-name.ts';
import type { FlowDefinition, FlowInputLimits } from '../domain/flow.ts';
import { extensionOf, matchesMediaType } from '../domain/media-type.ts';
import type { Params } from '../domain/params.ts';
import { mediaTypeOf, type UploadRecord } from '../domain/upload.ts';
import type { EngineDeps, InputUpload } from './records.ts';

/** How one file of an input comes (WIRE 3, input operations). */
export type InputOperation =
  | {
      readonly operation: 'init';
      readonly storageId?: string | undefined;
      readonly metadata: {
        readonly originalName?: string | undefined;
        readonly mimeType?: string | undefined;
        readonly size?: number | undefined;
        readonly [key: string]: unknown;
      };
    }
  | { readonly operation: 'finalize' | 'upload'; readonly uploadId: string };

export interface InputContext {
  readonly jobId: string;
  readonly flow: FlowDefinition;
  readonly storageId: string;
  readonly clientId: string | undefined;
  /** What the job is started with. */
  readonly params?: Params | undefined;
}

/** An upload that stands for an input, and whether the job made it. */
export type InputRef = { readonly id: string; readonly owned: boolean };

interface InputOptions {
  readonly allowedMimeTypes?: readonly string[];
  readonly maxFileSize?: number;
  readonly maxFiles?: number;
  readonly required?: boolean;
}

const inputOptions = (flow: FlowDefinition, nodeId: string): InputOptions => flow.nodes[nodeId]?.options ?? {};

/** The keys of the flow's inputs, in the order of the definition. */
export const inputNodes = (deps: Pick<EngineDeps, 'kinds'>, flow: FlowDefinition): readonly string[] =>
  Object.keys(flow.nodes).filter((nodeId) => deps.kinds[flow.nodes[nodeId]?.type ?? '']?.role === 'input');

/** How many files the input takes. */
export const maxFilesOf = (flow: FlowDefinition, nodeId: string): number => inputOptions(flow, nodeId).maxFiles ?? 1;

/** Whether the job waits for a file that nobody has announced. */
export const isRequired = (flow: FlowDefinition, nodeId: string): boolean =>
  inputOptions(flow, nodeId).required ?? true;

/** The narrower of the flow's and the node's limits. */
const limitsOf = (flow: FlowDefinition, nodeId: string): FlowInputLimits => {
  const node = inputOptions(flow, nodeId);
  const allowedMimeTypes = node.allowedMimeTypes ?? flow.input?.allowedMimeTypes;
  const sizes = [node.maxFileSize, flow.input?.maxFileSize].filter((size) => size !== undefined);
  return {
    ...(allowedMimeTypes === undefined ? {} : { allowedMimeTypes }),
    ...(sizes.length === 0 ? {} : { maxFileSize: Math.min(...sizes) }),
  };
};

/** Refuses a file that the input does not take: `UNSUPPORTED_FORMAT`, `FILE_TOO_LARGE`. */
export const requireAccepted = (
  flow: FlowDefinition,
  nodeId: string,
  file: { readonly type: string; readonly size?: number | undefined },
): void => {
  const { allowedMimeTypes, maxFileSize } = limitsOf(flow, nodeId);
  if (allowedMimeTypes !== undefined && !matchesMediaType(file.type, allowedMimeTypes)) {
    const allowed = allowedMimeTypes.join(', ');
    throw new ServiceError('UNSUPPORTED_FORMAT', `Input "${nodeId}" takes ${allowed}, not ${file.type || 'unknown'}`, {
      details: { nodeId, allowedMimeTypes, actual: file.type },
    });
  }
  if (maxFileSize !== undefined && (file.size ?? 0) > maxFileSize) {
    throw new ServiceError('FILE_TOO_LARGE', `Input "${nodeId}" takes at most ${maxFileSize} bytes`, {
      details: { nodeId, limit: 'bytes', max: maxFileSize, actual: file.size },
    });
  }
};

/** Everything about an operation that can be refused before anything is created. */
export const checkOperation = async (
  deps: EngineDeps,
  context: InputContext,
  nodeId: string,
  operation: InputOperation,
): Promise<void> => {
  if (operation.operation === 'init') {
    const { mimeType = '', size } = operation.metadata;
    requireAccepted(context.flow, nodeId, { type: mimeType, size });
    deps.storage(operation.storageId ?? context.storageId);
    return;
  }
  const upload = await deps.uploads.get(operation.uploadId, context.clientId);
  if (upload.status === 'failed') throw new ServiceError('FILE_NO_LONGER_EXISTS', upload.error?.message);
  if (operation.operation === 'upload' && upload.status !== 'completed') {
    throw new ServiceError('INVALID_JOB_STATE', `Upload ${upload.id} is not complete`);
  }
};

/** Makes the upload that the operation stands for, or takes the one that it names. */
export const openInput = async (
  deps: EngineDeps,
  context: InputContext,
  nodeId: string,
  operation: InputOperation,
): Promise<InputRef> => {
  if (operation.operation === 'init') {
    const { originalName, mimeType, size, ...custom } = operation.metadata;
    const { id } = await deps.uploads.create({
      ...baseUpload(context, nodeId),
      ...(operation.storageId === undefined ? {} : { storageId: operation.storageId }),
      ...(originalName === undefined ? {} : { fileName: originalName }),
      ...(mimeType === undefined ? {} : { type: mimeType }),
      ...(size === undefined ? { uploadLengthDeferred: true } : { size }),
      metadata: custom,
    });
    return { id, owned: true };
  }
  const upload =
    operation.operation === 'finalize'
      ? await deps.uploads.finalize(operation.uploadId, context.clientId)
      : await deps.uploads.get(operation.uploadId, context.clientId);
  return { id: upload.id, owned: upload.flow?.jobId === context.jobId };
};

/** The upload of an input that the client said nothing about: its length is fixed later. */
export const openDeferred = async (deps: EngineDeps, context: InputContext, nodeId: string): Promise<InputRef> => {
  const { id } = await deps.uploads.create({ ...baseUpload(context, nodeId), uploadLengthDeferred: true });
  return { id, owned: true };
};

const baseUpload = (context: InputContext, nodeId: string): InputUpload => ({
  storageId: context.storageId,
  ...(context.clientId === undefined ? {} : { clientId: context.clientId }),
  flow: { flowId: context.flow.flowId, nodeId, jobId: context.jobId },
});

/** The file that a completed upload brings into the flow, after its bytes passed the limits again. */
export const toJobFile = (flow: FlowDefinition, nodeId: string, upload: UploadRecord, owned: boolean) => {
  const mimeType = mediaTypeOf(upload) || 'application/octet-stream';
  requireAccepted(flow, nodeId, { type: mimeType, size: upload.offset });
  return {
    key: upload.key,
    storageId: upload.storageId,
    size: upload.offset,
    mimeType,
    fileName: safeFileName(upload.fileName, `${nodeId}.${extensionOf(mimeType)}`),
    owned,
    uploadId: upload.id,
  };
};
