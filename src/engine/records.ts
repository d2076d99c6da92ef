/** Reading and changing job records: what every use case of this folder starts from. */
import { errorTable, ServiceError } from '../domain/errors.ts';
import type { ServiceEvent } from '../domain/event.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import { isEnded, isHeldBack, type JobRecord } from '../domain/job.ts';
import type { UploadFlow, UploadRecord } from '../domain/upload.ts';
import type { Clock } from '../ports/clock.ts';
import type { DataStore } from '../ports/data-store.ts';
import type { EventBroadcaster } from '../ports/event-broadcaster.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Entry, KvStore } from '../ports/kv-store.ts';
import type { NodeKinds } from '../ports/node.ts';
import type { WorkerLimits, WorkerPool } from '../ports/worker-pool.ts';
import type { Places } from './places.ts';
import type { Scratch } from './scratch.ts';
import type { Slots } from './slots.ts';

/** Writes a job record with its events; see `events/publish`. */
export type PublishJob = (publication: {
  readonly topic: 'jobs';
  readonly value: JobRecord;
  readonly expectedVersion: number;
  readonly events?: readonly ServiceEvent[];
  readonly progress?: { readonly nodeId: string };
  readonly dueAt?: number | undefined;
}) => Promise<Entry<JobRecord> | undefined>;

/** A declared input, as the engine asks `uploads` to create it. */
export interface InputUpload {
  readonly fileName?: string;
  readonly size?: number;
  readonly type?: string;
  readonly storageId: string;
  readonly metadata?: unknown;
  readonly uploadLengthDeferred?: boolean;
  readonly checksum?: string | undefined;
  readonly checksumAlgorithm?: string | undefined;
  readonly lastModified?: number | undefined;
  readonly flow: UploadFlow;
  readonly clientId?: string | undefined;
}

/** What the engine asks of `uploads`; `service.ts` hands it across. */
export interface InputUploads {
  create(upload: InputUpload): Promise<UploadRecord>;
  get(id: string, clientId: string | undefined): Promise<UploadRecord>;
  finalize(id: string, clientId: string | undefined): Promise<UploadRecord>;
  abandon(id: string): Promise<void>;
  removeBytes(id: string): Promise<void>;
}

export interface EngineDeps {
  readonly kvStore: KvStore;
  readonly publish: PublishJob;
  readonly queue: JobQueue;
  readonly eventBroadcaster: EventBroadcaster;
  readonly workerPool: WorkerPool;
  readonly clock: Clock;
  /** The flows by their ids, as they are now: a reload puts others in their place. */
  readonly flows: () => Readonly<Record<string, FlowDefinition>>;
  readonly kinds: NodeKinds;
  readonly uploads: InputUploads;
  /** The store of a storage id; throws `STORAGE_NOT_FOUND`. */
  readonly storage: (storageId: string) => DataStore;
  /** Where the nodes of this process work. */
  readonly scratch: Scratch;
  readonly limits: WorkerLimits;
  readonly defaults: {
    /** Milliseconds in `running`, for flows that say nothing. */
    readonly timeout: number;
    /** Tries after the first, for flows and nodes that say nothing. */
    readonly retries: number;
  };
  readonly retention: {
    /** Milliseconds after its end for which a failed job can be tried again. */
    readonly retry: number;
    /** Milliseconds for which a job may be stopped by its user. */
    readonly pause: number;
    /** Milliseconds after its end for which a job and its outputs stay; `undefined`: for ever. */
    readonly result?: number | undefined;
  };
  /** The workers of this process. */
  readonly slots: Slots;
  /** How many nodes may have their files in scratch at once. */
  readonly scratchSlots: Slots;
  /** Who may run of flows with a `concurrency`. */
  readonly places: Places;
  /** The delay before a node's next try, milliseconds: exponential with full jitter. */
  readonly retryDelay: (attempt: number) => number;
  readonly onError: (error: unknown, context: Record<string, unknown>) => void;
}

/** A holder that has not renewed its lease for so long is dead, milliseconds. */
export const leaseMs = 10_000;

/** How long after its last change recovery looks at a job that nobody holds; the first look of a new life covers it. */
export const unattendedMs = 10_000;

/** When recovery must look at the record; jobs that wait for uploads are found through these. */
export const dueAt = (deps: Pick<EngineDeps, 'clock' | 'retention'>, job: JobRecord): number | undefined => {
  if (job.status === 'running') return (job.lease?.until ?? deps.clock.now()) + unattendedMs;
  if (isHeldBack(job)) return Math.max(job.pausedUntil ?? 0, job.lease?.until ?? 0);
  if (job.status === 'pending' || job.leftovers === true) return deps.clock.now() + unattendedMs;
  const [first] = [sweepAt(deps, job), removeAt(deps, job)].filter((at) => at !== undefined).sort((a, b) => a - b);
  return first;
};

/** When a failed job can be tried again no longer, milliseconds since 1970; `undefined`: that is so already. */
export const sweepAt = ({ retention }: Pick<EngineDeps, 'retention'>, job: JobRecord): number | undefined =>
  job.status === 'failed' && job.swept !== true ? endOf(job) + retention.retry : undefined;

/** When an ended job is removed with all that it has made, milliseconds since 1970; `undefined`: never. */
export const removeAt = ({ retention }: Pick<EngineDeps, 'retention'>, job: JobRecord): number | undefined =>
  retention.result === undefined || !isEnded(job) ? undefined : endOf(job) + retention.result;

const endOf = (job: JobRecord): number => Date.parse(job.endedAt ?? job.updatedAt);

/** The job of this client; another client's is as unknown as one that never was. */
export const findJob = async (
  deps: Pick<EngineDeps, 'kvStore'>,
  id: string,
  clientId: string | undefined,
): Promise<Entry<JobRecord>> => {
  const entry = await deps.kvStore.get('jobs', id);
  if (entry === undefined || entry.value.clientId !== clientId) throw new ServiceError('FLOW_JOB_NOT_FOUND');
  return entry;
};

/** The flow as jobs that start now take it. */
export const findFlow = (deps: Pick<EngineDeps, 'flows'>, flowId: string): FlowDefinition => {
  const flows = deps.flows();
  const flow = Object.hasOwn(flows, flowId) ? flows[flowId] : undefined;
  if (flow === undefined) throw new ServiceError('FLOW_NOT_FOUND');
  return flow;
};

/** What is behind an error that clients cannot help, and of which they hear only that there was one. */
export const reportCause = (
  deps: Pick<EngineDeps, 'onError'>,
  job: JobRecord,
  nodeId: string,
  error: ServiceError,
): void => {
  const { code, cause = code === 'INTERNAL_ERROR' ? error : undefined } = error;
  if (cause !== undefined && errorTable[code].status >= 500) deps.onError(cause, { jobId: job.id, nodeId, code });
};

/** What a change makes of a job, and what it tells; `undefined`: nothing is to be changed. */
export type JobChange = (job: JobRecord) =>
  | {
      readonly value: JobRecord;
      readonly events?: readonly ServiceEvent[];
      /** The change is progress of this node. */
      readonly progress?: { readonly nodeId: string };
    }
  | undefined;

/** Applies the change to the newest record, again and again until no other writer was first. */
export const updateJob = async (
  deps: Pick<EngineDeps, 'kvStore' | 'publish' | 'clock' | 'retention'>,
  entry: Entry<JobRecord>,
  change: JobChange,
): Promise<Entry<JobRecord> | undefined> => {
  for (let base: Entry<JobRecord> | undefined = entry; base !== undefined; ) {
    const changed = change(base.value);
    if (changed === undefined) return undefined;
    const saved = await deps.publish({
      topic: 'jobs',
      expectedVersion: base.version,
      ...changed,
      dueAt: dueAt(deps, changed.value),
    });
    if (saved !== undefined) return saved;
    base = await deps.kvStore.get('jobs', entry.value.id);
  }
  throw new ServiceError('FLOW_JOB_NOT_FOUND');
};
