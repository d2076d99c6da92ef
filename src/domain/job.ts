/** The job record: one run of a flow (WIRE 3). */
import type { EventError, Sequenced } from './event.ts';
import type { Params } from './params.ts';
import type { JsonValue } from './upload.ts';

export const jobStatuses = ['pending', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const;

export type JobStatus = (typeof jobStatuses)[number];

export type TaskStatus =
  | 'pending'
  | 'running'
  | 'paused'
  | 'retrying'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled';

/** A file that a node has delivered. */
export interface JobFile {
  readonly key: string;
  readonly storageId: string;
  /** Bytes. */
  readonly size: number;
  readonly mimeType: string;
  /** Safe: see `domain/file-name`. */
  readonly fileName: string;
  /** Facts that the node knows: width, height, format and the like. */
  readonly meta?: { readonly [key: string]: JsonValue };
  /** The job made these bytes and may delete them; `false` for a user's own upload. */
  readonly owned: boolean;
  /** The upload that the file is, for inputs. */
  readonly uploadId?: string;
  /** The way out by which it has left its node, where that has several. */
  readonly handle?: string;
}

export interface TaskRecord {
  readonly nodeId: string;
  readonly status: TaskStatus;
  /** Tries begun; 0 before the first. */
  readonly attempt: number;
  /** Of these, tries that do not count: cut off by something else, or before the failed job was tried again. */
  readonly forgiven?: number;
  /** How often the process that ran the node has died, since then. */
  readonly crashes?: number;
  /** How often the node has run out of its time, since then. */
  readonly timeouts?: number;
  /** How often the service that ran the node was lost, since then. */
  readonly losses?: number;
  /** What the node delivered, once completed. */
  readonly files?: readonly JobFile[];
  /** Completed inside a chain: its files live in the worker only, and are lost with it. */
  readonly unsaved?: true;
  /** 0 to 1, while it runs over several files. */
  readonly progress?: number;
  /** The uploads of a `file-input`, in order, and whether the job created them. */
  readonly uploads?: readonly { readonly id: string; readonly owned: boolean }[];
  readonly error?: EventError;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** When a `retrying` task may run again, milliseconds since 1970. */
  readonly retryAt?: number;
}

/** A final output and the node that made it. */
export interface JobOutput extends JobFile {
  readonly nodeId: string;
}

export interface JobRecord extends Sequenced {
  readonly id: string;
  readonly flowId: string;
  /** The definition that this job is pinned to. */
  readonly definitionHash: string;
  readonly storageId: string;
  readonly clientId?: string;
  /** What it was started with, defaults included: `params` of its flow. */
  readonly params?: Params;
  readonly status: JobStatus;
  /** `uploads`: inputs are open. `user`: until somebody resumes it; what runs comes to its end, nothing begins. */
  readonly pauseReason?: 'uploads' | 'user';
  /** With the reason `user`: when it fails unless somebody has resumed it, milliseconds since 1970. */
  readonly pausedUntil?: number;
  /** Since when it waits for a retry without a holder, milliseconds since 1970. */
  readonly waitsSince?: number;
  /** One per node, in the order of the definition. */
  readonly tasks: readonly TaskRecord[];
  readonly outputs?: Readonly<Record<string, JobOutput>>;
  readonly error?: EventError & { readonly nodeId: string };
  readonly warnings?: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Milliseconds spent in `running` so far; the flow's timeout counts these. */
  readonly runningMs: number;
  /** Raised by each claim: a write with an older epoch is a displaced runner's. */
  readonly epoch: number;
  /** Raised by each wake-up: the holder leaves only when it has seen the newest. */
  readonly wakes: number;
  /** It has ended for good, and what nobody needs of it is still to be removed. */
  readonly leftovers?: true;
  /** It has failed, and its time to be tried again is over: nothing of it is left but this record. */
  readonly swept?: true;
  /** Who runs it: a queue entry, until a time (milliseconds since 1970). */
  readonly lease?: { readonly entry: string; readonly until: number };
}

export const isEnded = (job: JobRecord): boolean =>
  job.status === 'completed' || job.status === 'failed' || job.status === 'cancelled';

/** The task will not change again. */
export const isTaskSettled = (task: TaskRecord): boolean =>
  task.status === 'completed' || task.status === 'failed' || task.status === 'skipped' || task.status === 'cancelled';

/** Settled, and what it has delivered outlives the worker that made it. */
export const isSaved = (task: TaskRecord): boolean => isTaskSettled(task) && task.unsaved !== true;

export const findTask = (job: JobRecord, nodeId: string): TaskRecord | undefined =>
  job.tasks.find((task) => task.nodeId === nodeId);

/** The job with one task changed. */
export const withTask = (job: JobRecord, nodeId: string, change: Partial<TaskRecord>): JobRecord => ({
  ...job,
  tasks: job.tasks.map((task) => (task.nodeId === nodeId ? { ...task, ...change } : task)),
});

/** The task as if its current try had not begun; what counts the tries stays. */
export const toPending = (task: TaskRecord): TaskRecord => {
  const { unsaved: _, progress: _1, startedAt: _2, endedAt: _3, retryAt: _4, ...rest } = task;
  return { ...rest, status: 'pending' };
};

/** The task when something else than its own failure has cut its try off, if it was at one. */
export const toCutOff = (task: TaskRecord): TaskRecord =>
  task.status === 'running' || task.unsaved === true
    ? { ...toPending(task), forgiven: (task.forgiven ?? 0) + 1 }
    : task;

/** Somebody has stopped the job for a while. */
export const isHeldBack = (job: JobRecord): boolean => job.status === 'paused' && job.pauseReason === 'user';

/** The job as nobody holds it. */
export const withoutLease = ({ lease: _, ...job }: JobRecord): JobRecord => job;

/** The job as nobody has stopped it, and as it waits for nothing. */
export const withoutPause = ({ pauseReason: _, pausedUntil: _1, ...job }: JobRecord): JobRecord => job;

/** The job with the time counted for which it has waited for a retry without a holder: it has been `running`. */
export const withWaitCounted = ({ waitsSince, ...job }: JobRecord, now: number): JobRecord => {
  if (waitsSince === undefined) return job;
  // What came after the time of the retry is the queue's, or that of a service which was down.
  const until = Math.min(now, ...job.tasks.flatMap(({ retryAt }) => retryAt ?? []));
  return { ...job, runningMs: job.runningMs + Math.max(0, until - waitsSince) };
};

/** The share of nodes that have settled, 0 to 1; a node that runs counts as far as it has come. */
export const progressOf = (job: JobRecord): number => {
  const done = job.tasks.reduce((sum, task) => sum + (isTaskSettled(task) ? 1 : (task.progress ?? 0)), 0);
  return job.tasks.length === 0 ? 1 : done / job.tasks.length;
};
