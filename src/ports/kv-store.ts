/**
 * Where records live: uploads, jobs, the flow definitions that jobs are pinned to, idempotency keys, and who runs of a
 * flow with a limit.
 *
 * Every write is conditional on the version that its writer read, and changes the record, its event log, its place in
 * the index of deadlines and the counters of its client together or not at all; a job's place in the index of jobs
 * changes with it too. Deliberately not part of it: blind writes, locks, any other query by content, notifications
 * (that is the `EventBroadcaster`).
 */
import type { StartClaim } from '../domain/claim.ts';
import type { LoggedEvent } from '../domain/event.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import type { JobRecord, JobStatus } from '../domain/job.ts';
import type { FlowPlaces } from '../domain/place.ts';
import type { UsageChange } from '../domain/quota.ts';
import type { UploadRecord, Usage } from '../domain/upload.ts';
import type { JobQueue } from './job-queue.ts';
import type { Owners } from './owners.ts';

/** The collections and what each one holds. */
export interface Collections {
  readonly uploads: UploadRecord;
  readonly jobs: JobRecord;
  readonly definitions: FlowDefinition;
  readonly claims: StartClaim;
  /** By the flow's id. */
  readonly places: FlowPlaces;
}

export type Collection = keyof Collections;

export interface Entry<T> {
  readonly value: T;
  /** Counts the writes of this record, from 1. */
  readonly version: number;
}

export interface Change<C extends Collection> {
  readonly collection: C;
  readonly id: string;
  readonly value: Collections[C];
  /** The version that the writer read; 0: the record must not exist yet. */
  readonly expectedVersion: number;
  /** Appended to the log of this record; numbers must grow. */
  readonly events?: readonly LoggedEvent[];
  /** When `due` shall name this record, milliseconds since 1970; absent: never. */
  readonly dueAt?: number;
  /** Added to the counters of a client; refuses the change when one would grow past its limit. */
  readonly usage?: UsageChange;
}

/** Which jobs to list. */
export interface JobFilter {
  /** The jobs of this client; `undefined`: those of nobody. */
  readonly clientId: string | undefined;
  /** Those in one of these statuses; absent: in any. */
  readonly statuses?: readonly JobStatus[] | undefined;
  /** Those of this flow; absent: of any. */
  readonly flowId?: string | undefined;
  /** Those with a smaller id: the page that follows the one which ended with it. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface KvStore {
  get<C extends Collection>(collection: C, id: string): Promise<Entry<Collections[C]> | undefined>;
  /**
   * The new version, or `undefined` when the record is no longer at `expectedVersion`: nothing was written, as with
   * every error. Errors: `QUOTA_EXCEEDED`, see `requireWithin`.
   */
  commit<C extends Collection>(change: Change<C>): Promise<number | undefined>;
  /**
   * Removes the record, its log and its deadline, and leaves the counters alone; `false` when there was none, or none at
   * `expectedVersion` where that is given.
   */
  remove(collection: Collection, id: string, expectedVersion?: number): Promise<boolean>;
  /** The log of a record after `seq`, oldest first. */
  events(collection: Collection, id: string, after: number): Promise<readonly LoggedEvent[]>;
  /** Ids whose deadline is at or before `until`, earliest first, at most `limit`. */
  due(collection: Collection, until: number, limit: number): Promise<readonly string[]>;
  /**
   * Ids of jobs, the largest first: ids begin with the time, so that is the newest. Of a job record the index reads
   * `clientId`, `flowId` and `status`, and for `isPinned` `definitionHash`; nothing else.
   *
   * A page must cost what its length is, however many jobs there are. So every answer is the union of ordered ranges,
   * one per status, of two indexes: (client, status, id) and (client, flow, status, id). A Redis driver keeps a sorted
   * set for each of these pairs and triples, all scores zero; its commit script moves the id when the status has
   * changed, and ZREVRANGEBYLEX reads a range.
   */
  listJobs(filter: JobFilter): Promise<readonly string[]>;
  /** Whether a job record has that `definitionHash`. */
  isPinned(definitionHash: string): Promise<boolean>;
  /** The counters of a client; zeros for one that nothing was counted for. */
  usage(clientId: string | undefined): Promise<Usage>;
  /** Resolves when everything committed before the call survives a power cut, as far as the driver was told to care. */
  flush(): Promise<void>;
  /** The job queue that lives beside the records. */
  queue(): JobQueue;
  /** The owners of uploads, for all who share these records. */
  owners(): Owners;
  /** A real round trip; throws when the store cannot answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
