import { isEnded, isHeldBack, type JobRecord } from '../domain/job.ts';
import type { Entry } from '../ports/kv-store.ts';
import { forgetClaim } from './claims.ts';
import { forgetDefinition } from './definitions.ts';
import { endPause } from './pause.ts';
import { dueAt, type EngineDeps, removeAt, sweepAt, unattendedMs } from './records.ts';
import { removeJob, sweepEnded, sweepFailed } from './sweep.ts';

/**
 * Takes up what a crash cut off: jobs that lost their queue entry are enqueued again, under the number of their last
 * wake-up, which does nothing while that entry still waits. Removes what ended jobs have left behind, the jobs and
 * idempotency keys whose time is over, and definitions that no job refers to. `until` is the newest deadline to look at (milliseconds since 1970).
 */
export type RecoverJobs = (until: number) => Promise<void>;

const batch = 100;

/** Keys are forgotten in one step each, and there may be many more of them. */
const claimsBatch = 1000;

export const createRecoverJobs =
  (deps: EngineDeps): RecoverJobs =>
  async (until) => {
    for (const id of await deps.kvStore.due('jobs', until, batch)) {
      const putOff = (error: unknown) => {
        deps.onError(error, { jobId: id });
        return postponeFailed(deps, id);
      };
      await recover(deps, id)
        .catch(putOff)
        .catch((error: unknown) => deps.onError(error, { jobId: id }));
    }
    for (const id of await deps.kvStore.due('definitions', until, batch)) {
      await forgetDefinition(deps, id).catch((error: unknown) => deps.onError(error, { definition: id }));
    }
    for (const id of await deps.kvStore.due('claims', until, claimsBatch)) {
      await forgetClaim(deps, id).catch((error: unknown) => deps.onError(error, { claim: id }));
    }
  };

const recover = async (deps: EngineDeps, id: string): Promise<void> => {
  const entry = await deps.kvStore.get('jobs', id);
  if (entry === undefined) return;
  const { value } = entry;
  if (isEnded(value)) return retire(deps, entry);
  if (isHeldBack(value)) await endPause(deps, entry);
  const now = deps.clock.now();
  const held = value.lease !== undefined && value.lease.until > now;
  if (!held) await deps.queue.enqueue({ id: `${id}-${value.wakes}`, jobId: id });
  await postpone(deps, entry);
};

/** Removes what an ended job has left behind, and in the end the job. */
const retire = (deps: EngineDeps, entry: Entry<JobRecord>): Promise<void> => {
  const isPast = (at: number | undefined) => at !== undefined && at <= deps.clock.now();
  if (isPast(removeAt(deps, entry.value))) return removeJob(deps, entry);
  const { leftovers, swept } = entry.value;
  if (isPast(sweepAt(deps, entry.value)) || (swept && leftovers)) return sweepFailed(deps, entry);
  if (leftovers) return sweepEnded(deps, entry);
  return postpone(deps, entry);
};

/** Only moves the deadline; when another writer is first, that one has set it. */
const postpone = async (
  deps: EngineDeps,
  { value, version }: Entry<JobRecord>,
  at = dueAt(deps, value),
): Promise<void> => {
  await deps.publish({ topic: 'jobs', value, expectedVersion: version, dueAt: at });
};

/** One that fails again and again must not stand before others that are due. */
const postponeFailed = async (deps: EngineDeps, id: string): Promise<void> => {
  const entry = await deps.kvStore.get('jobs', id);
  if (entry !== undefined) await postpone(deps, entry, deps.clock.now() + unattendedMs);
};
