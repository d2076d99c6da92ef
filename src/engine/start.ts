import { ServiceError } from '../domain/errors.ts';
import type { ServiceEvent } from '../domain/event.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import { isTaskSettled, type JobRecord, type TaskRecord } from '../domain/job.ts';
import type { Params } from '../domain/params.ts';
import { isSettled } from '../domain/upload.ts';
import { createPinDefinition, type PinDefinition } from './definitions.ts';
import {
  checkOperation,
  type InputContext,
  type InputOperation,
  type InputRef,
  inputNodes,
  isRequired,
  maxFilesOf,
  openDeferred,
  openInput,
} from './inputs.ts';
import { readParams } from './params.ts';
import { dueAt, type EngineDeps, findFlow, findJob } from './records.ts';

export interface StartRequest {
  readonly flowId: string;
  readonly storageId: string;
  readonly clientId: string | undefined;
  /** Chosen in advance: if there is a job of this id already, that one is the answer. Default: a new id. */
  readonly jobId?: string;
  /** By node id; an input that is left out gets an upload of deferred length, or is skipped if it is not required. */
  readonly inputs?: Readonly<Record<string, InputOperation | readonly InputOperation[]>> | undefined;
  /** As the flow's `params` describes them. */
  readonly params?: Params | undefined;
}

/**
 * Starts a flow: checks everything, creates the uploads that it waits for, then the job. Nothing is created when a
 * check fails.
 *
 * Errors: `FLOW_NOT_FOUND`, `NODE_NOT_FOUND`, `VALIDATION_ERROR`, `UNSUPPORTED_FORMAT`, `FILE_TOO_LARGE`,
 * `STORAGE_NOT_FOUND`, `FILE_NOT_FOUND`, `INVALID_JOB_STATE`, `QUOTA_EXCEEDED`.
 */
export type StartFlow = (request: StartRequest) => Promise<JobRecord>;

export const createStart = (given: EngineDeps): StartFlow => {
  const deps = { ...given, pin: createPinDefinition(given) };
  return async (request) => {
    const flow = findFlow(deps, request.flowId);
    deps.storage(request.storageId);
    const { storageId, clientId } = request;
    const params = readParams(flow, request.params);
    const jobId = request.jobId ?? deps.clock.newId();
    const context: InputContext = { jobId, flow, storageId, clientId, params };
    const operations = await checkInputs(deps, context, request.inputs ?? {});
    const refs = await openAll(deps, context, operations);
    const created = await createJob(deps, context, refs);
    if (created !== undefined) return created;
    await abandonAll(deps, refs);
    return (await findJob(deps, context.jobId, clientId)).value;
  };
};

const checkInputs = async (deps: EngineDeps, context: InputContext, inputs: NonNullable<StartRequest['inputs']>) => {
  const nodes = inputNodes(deps, context.flow);
  for (const nodeId of Object.keys(inputs)) {
    if (nodes.includes(nodeId)) continue;
    throw new ServiceError('NODE_NOT_FOUND', `Flow "${context.flow.flowId}" has no input "${nodeId}"`);
  }
  const operations = new Map<string, readonly InputOperation[]>();
  for (const nodeId of nodes) {
    const list = [inputs[nodeId] ?? []].flat() as readonly InputOperation[];
    requireCount(context.flow, nodeId, list.length);
    for (const operation of list) await checkOperation(deps, context, nodeId, operation);
    operations.set(nodeId, list);
  }
  return operations;
};

/** Refuses more files than the input takes. */
export const requireCount = (flow: FlowDefinition, nodeId: string, count: number): void => {
  const max = maxFilesOf(flow, nodeId);
  if (count <= max) return;
  throw new ServiceError('VALIDATION_ERROR', `body.inputs.${nodeId} has ${count} files, at most ${max} are taken`, {
    details: { field: `body.inputs.${nodeId}` },
  });
};

/** Opens every input; when one fails, those opened before it are given up, so that nothing is left behind. */
const openAll = async (
  deps: EngineDeps,
  context: InputContext,
  operations: ReadonlyMap<string, readonly InputOperation[]>,
): Promise<ReadonlyMap<string, readonly InputRef[]>> => {
  const refs = new Map<string, InputRef[]>();
  try {
    for (const [nodeId, list] of operations) {
      const opened: InputRef[] = [];
      refs.set(nodeId, opened);
      for (const operation of list) opened.push(await openInput(deps, context, nodeId, operation));
      if (list.length === 0 && isRequired(context.flow, nodeId)) opened.push(await openDeferred(deps, context, nodeId));
    }
    return refs;
  } catch (error) {
    await abandonAll(deps, refs);
    throw error;
  }
};

const abandonAll = async (deps: EngineDeps, refs: ReadonlyMap<string, readonly InputRef[]>): Promise<void> => {
  const owned = [...refs.values()].flat().filter((ref) => ref.owned);
  await Promise.all(owned.map(({ id }) => deps.uploads.abandon(id)));
};

/** `undefined`: there is a job of this id already. */
const createJob = async (
  deps: EngineDeps & { readonly pin: PinDefinition },
  context: InputContext,
  refs: ReadonlyMap<string, readonly InputRef[]>,
): Promise<JobRecord | undefined> => {
  const waiting = await waitingInputs(deps, refs);
  const value = newJob(deps, context, refs, waiting, await deps.pin(context.flow));
  const events: ServiceEvent[] = [
    { type: 'flow_started' },
    ...value.tasks.filter(isTaskSettled).map(({ nodeId }) => ({ type: 'node_skipped' as const, nodeId })),
    ...(waiting.size > 0 ? [{ type: 'flow_paused' as const }] : []),
  ];
  const due = dueAt(deps, value);
  const saved = await deps.publish({ topic: 'jobs', value, expectedVersion: 0, events, dueAt: due });
  if (saved === undefined) return undefined;
  if (waiting.size === 0) await deps.queue.enqueue({ id: `${value.id}-${value.wakes}`, jobId: value.id });
  await deps.kvStore.flush();
  return saved.value;
};

/** The inputs of which at least one upload has not settled. */
const waitingInputs = async (
  deps: EngineDeps,
  refs: ReadonlyMap<string, readonly InputRef[]>,
): Promise<Set<string>> => {
  const waiting = new Set<string>();
  for (const [nodeId, list] of refs) {
    for (const { id } of list) {
      const entry = await deps.kvStore.get('uploads', id);
      if (entry !== undefined && !isSettled(entry.value)) waiting.add(nodeId);
    }
  }
  return waiting;
};

const newJob = (
  deps: EngineDeps,
  context: InputContext,
  refs: ReadonlyMap<string, readonly InputRef[]>,
  waiting: ReadonlySet<string>,
  definitionHash: string,
): JobRecord => {
  const now = new Date(deps.clock.now()).toISOString();
  const task = (nodeId: string): TaskRecord => {
    const uploads = refs.get(nodeId);
    // An input that may be left out, and was.
    if (uploads?.length === 0) return { nodeId, status: 'skipped', attempt: 0 };
    const status = waiting.has(nodeId) ? 'paused' : 'pending';
    return { nodeId, status, attempt: 0, ...(uploads === undefined ? {} : { uploads }) };
  };
  return {
    id: context.jobId,
    flowId: context.flow.flowId,
    definitionHash,
    storageId: context.storageId,
    ...(context.clientId === undefined ? {} : { clientId: context.clientId }),
    ...(context.params === undefined ? {} : { params: context.params }),
    ...(waiting.size > 0 ? { status: 'paused', pauseReason: 'uploads' } : { status: 'pending' }),
    tasks: Object.keys(context.flow.nodes).map(task),
    createdAt: now,
    updatedAt: now,
    runningMs: 0,
    epoch: 0,
    wakes: 1,
    seq: 0,
  };
};
