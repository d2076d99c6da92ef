/** One holder's hold on a job: the lease, the newest record, and the signal that ends the hold. */
import type { FlowDefinition } from '../domain/flow.ts';
import {
  isEnded,
  isHeldBack,
  type JobRecord,
  type TaskRecord,
  toCutOff,
  withoutLease,
  withoutPause,
  withWaitCounted,
} from '../domain/job.ts';
import type { QueueEntry, QueueOutcome } from '../ports/job-queue.ts';
import type { Entry } from '../ports/kv-store.ts';
import { definitionOf } from './definitions.ts';
import type { Place } from './places.ts';
import { type EngineDeps, type JobChange, leaseMs, updateJob } from './records.ts';
import { planUnits, type Unit } from './units.ts';

/** Why a hold ends before its work does: the job was taken or ended by somebody else, or the service stops. */
export class HoldEnded extends Error {
  readonly reason: 'lost' | 'shutdown';

  constructor(reason: 'lost' | 'shutdown') {
    super(`the hold on the job has ended: ${reason}`);
    this.reason = reason;
  }
}

export interface Session {
  readonly flow: FlowDefinition;
  /** What of it runs together. */
  readonly units: readonly Unit[];
  /** The newest record that this holder knows, with and without its version. */
  readonly entry: Entry<JobRecord>;
  readonly job: JobRecord;
  /** Aborted with `HoldEnded` when the hold ends, or with an error that ends the job. */
  readonly signal: AbortSignal;
  end(reason: unknown): void;
  /** Changes the record while the hold lasts; throws `HoldEnded`. `undefined` from `change`: nothing was written. */
  update(change: SessionChange): Promise<boolean>;
  /** Keeps others from the job for as long as a lease lasts; throws `HoldEnded`. */
  renew(): Promise<boolean>;
  /** Resolves at the next wake-up of the job or the end of the hold. */
  woken(): Promise<void>;
  /** Milliseconds in `running`, this hold included. */
  runningMs(): number;
  /** Stops renewing and listening, and gives the place of the job to another one of its flow. */
  close(): Promise<void>;
}

export type SessionChange = JobChange;

/**
 * Claims the job for a queue entry; `done` when it has ended, somebody has stopped it for a while, or another entry
 * holds it; a delay when as many jobs of its flow run as may (DESIGN 4).
 */
export const claim = async (
  deps: EngineDeps,
  queued: QueueEntry,
  shutdown: AbortSignal,
): Promise<Session | QueueOutcome> => {
  const known = await deps.kvStore.get('jobs', queued.jobId);
  if (known === undefined || !isFree(deps, known.value, queued)) return 'done';
  const place = await deps.places.take(known.value, queued.id);
  if ('delayMs' in place) return place;
  try {
    const claimed = await updateJob(deps, known, (job) => claimFor(deps, queued, job));
    // One that was stopped while its last holder was lost is only let go of: nobody may wait for that lease to end.
    if (claimed !== undefined && !isHeldBack(claimed.value)) {
      return await openSession(deps, claimed, place, await definitionOf(deps, claimed.value), shutdown);
    }
  } catch (error) {
    await place.release();
    throw error;
  }
  await place.release();
  return 'done';
};

/** Nobody has stopped or ended the job, and no other entry holds it; a lease of one that was stopped is in the way. */
const isFree = (deps: EngineDeps, job: JobRecord, queued: QueueEntry): boolean => {
  const held = job.lease !== undefined && job.lease.until > deps.clock.now() && job.lease.entry !== queued.id;
  return !held && !isEnded(job) && (!isHeldBack(job) || job.lease !== undefined);
};

const claimFor = (deps: EngineDeps, queued: QueueEntry, job: JobRecord): ReturnType<JobChange> => {
  if (!isFree(deps, job, queued)) return undefined;
  const tasks = job.tasks.map(afterLoss);
  if (isHeldBack(job)) return { value: { ...withoutLease(job), tasks } };
  return {
    value: {
      ...withoutPause(withWaitCounted(job, deps.clock.now())),
      status: 'running',
      startedAt: job.startedAt ?? new Date(deps.clock.now()).toISOString(),
      epoch: job.epoch + 1,
      lease: { entry: queued.id, until: deps.clock.now() + leaseMs },
      tasks,
    },
    ...(job.status === 'paused' ? { events: [{ type: 'flow_resumed' as const }] } : {}),
  };
};

/** What ran when the last holder was lost runs again, and so does what had ended in a worker only. */
const afterLoss = (task: TaskRecord): TaskRecord =>
  task.status === 'running' ? { ...toCutOff(task), losses: (task.losses ?? 0) + 1 } : toCutOff(task);

const openSession = async (
  deps: EngineDeps,
  claimed: Entry<JobRecord>,
  place: Place,
  flow: FlowDefinition,
  shutdown: AbortSignal,
): Promise<Session> => {
  let entry = claimed;
  const { epoch, id } = claimed.value;
  const since = deps.clock.now();
  const controller = new AbortController();
  const end = (reason: unknown) => controller.abort(reason);
  const stop = () => end(new HoldEnded('shutdown'));
  const runningMs = () => claimed.value.runningMs + deps.clock.now() - since;
  let wakeUp = Promise.withResolvers<void>();

  const update = async (change: SessionChange): Promise<boolean> => {
    const saved = await updateJob(deps, entry, (job) => {
      if (job.epoch !== epoch || isEnded(job)) {
        end(new HoldEnded('lost'));
        throw new HoldEnded('lost');
      }
      const changed = change(job);
      return changed && { ...changed, value: { ...changed.value, runningMs: runningMs() } };
    });
    if (saved === undefined) await refresh();
    else if (saved.version > entry.version) entry = saved;
    return saved !== undefined;
  };

  const refresh = async () => {
    const newest = await deps.kvStore.get('jobs', id);
    if (newest === undefined || newest.value.epoch !== epoch) return end(new HoldEnded('lost'));
    if (newest.version > entry.version) entry = newest;
    wakeUp.resolve();
    wakeUp = Promise.withResolvers<void>();
  };
  // A failed refresh or renewal is made up for by the next; the lease ends the hold if none succeeds.
  const report = (error: unknown) => {
    if (!(error instanceof HoldEnded)) deps.onError(error, { jobId: id });
  };
  const unsubscribe = await deps.eventBroadcaster.subscribe('jobs', id, () => void refresh().catch(report));
  const renew = () =>
    update((job) => ({
      value: { ...job, lease: { entry: job.lease?.entry ?? '', until: deps.clock.now() + leaseMs } },
    }));
  const renewal = setInterval(() => void Promise.all([renew(), place.renew()]).catch(report), leaseMs / 3);
  if (shutdown.aborted) stop();
  shutdown.addEventListener('abort', stop);

  return {
    flow,
    units: planUnits(flow, deps.kinds),
    get entry() {
      return entry;
    },
    get job() {
      return entry.value;
    },
    signal: controller.signal,
    end,
    update,
    renew,
    woken: () => wakeUp.promise,
    runningMs,
    async close() {
      clearInterval(renewal);
      unsubscribe();
      shutdown.removeEventListener('abort', stop);
      await place.release();
    },
  };
};
