import { isEnded } from '../domain/job.ts';
import { dueAt, type EngineDeps } from './records.ts';
import { sweepEnded } from './sweep.ts';

/**
 * Takes up what a crash cut off: removes the files of ended jobs, and enqueues jobs that lost their queue entry again,
 * under the number of their last wake-up, which does nothing while that entry still waits. `until` is the newest deadline to look at (milliseconds since 1970).
 */
export type RecoverJobs = (until: number) => Promise<void>;

const batch = 100;

export const createRecoverJobs =
  (deps: EngineDeps): RecoverJobs =>
  async (until) => {
    for (const id of await deps.kvStore.due('jobs', until, batch)) {
      await recover(deps, id).catch((error: unknown) => deps.onError(error, { jobId: id }));
    }
  };

const recover = async (deps: EngineDeps, id: string): Promise<void> => {
  const entry = await deps.kvStore.get('jobs', id);
  if (entry === undefined) return;
  const { value } = entry;
  if (value.leftovers === true) return sweepEnded(deps, entry);
  const now = deps.clock.now();
  const held = value.lease !== undefined && value.lease.until > now;
  if (!isEnded(value) && !held) await deps.queue.enqueue({ id: `${id}-${value.wakes}`, jobId: id });
  // Only moves the deadline; when another writer is first, that one has set it.
  await deps.publish({ topic: 'jobs', value, expectedVersion: entry.version, dueAt: dueAt(value, now) });
};
