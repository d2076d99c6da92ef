import { isSettled } from '../domain/upload.ts';
import type { DataStore } from '../ports/data-store.ts';
import type { KvStore } from '../ports/kv-store.ts';

/**
 * Has a store remove what dead writers have left in it that no record tells of. Done once an hour by one replica or by
 * all: it only looks for what has been lying there for a day.
 */
export type SweepStore = (store: Pick<DataStore, 'sweep'>) => Promise<void>;

/** Milliseconds; long enough that records which were lost can be restored before their bytes go. */
const untouchedMs = 24 * 3_600_000;

/** Uploads have their id in their key; what else is in the store is published whole and keeps no state. */
const idOf = (key: string): string | undefined => /^uploads\/([^/]+)$/.exec(key)?.[1];

export const createSweep = (deps: {
  readonly kvStore: Pick<KvStore, 'get'>;
  readonly clock: { now(): number };
}): SweepStore => {
  const stateOf = async (key: string): Promise<unknown> => {
    const id = idOf(key);
    const entry = id === undefined ? undefined : await deps.kvStore.get('uploads', id);
    return entry === undefined || isSettled(entry.value) ? undefined : entry.value.sink;
  };
  return async (store) => {
    await store.sweep?.({ before: deps.clock.now() - untouchedMs, stateOf });
  };
};
