/**
 * How many jobs of a flow run at once, over all replicas: a record per flow with the leases of those that do. It is
 * changed like any other record, so two claims at once cannot both have the last place, and a place whose holder has
 * died is free when its lease ends.
 */
import type { JobRecord } from '../domain/job.ts';
import { definitionOf } from './definitions.ts';
import { type EngineDeps, leaseMs } from './records.ts';

/** A job's right to run, for as long as it is renewed. */
export interface Place {
  renew(): Promise<void>;
  /** Gives it back; what cannot be written is made up for by the end of the lease. */
  release(): Promise<void>;
}

export interface Places {
  /** A place for the job, held by this queue entry; or for how long to wait before asking again, milliseconds. */
  take(job: JobRecord, entry: string): Promise<Place | { readonly delayMs: number }>;
}

export type PlacesDeps = Pick<EngineDeps, 'kvStore' | 'clock' | 'flows' | 'onError'>;

/** A claim over the limit looks again after so long, milliseconds. */
const waitMs = 1000;

/** Between two looks of the same flow on this replica, milliseconds: thousands that wait must not keep all busy. */
const apartMs = 10;

type Holders = Readonly<Record<string, number>>;

/** What a change makes of the holders whose leases last; `undefined`: nothing is to be changed. */
type HoldersChange = (holders: Holders) => Holders | undefined;

const unlimited: Place = { renew: async () => {}, release: async () => {} };

export const createPlaces = (deps: PlacesDeps): Places => {
  const { kvStore, clock } = deps;
  const looks = new Map<string, number>();

  const change = async (flowId: string, change: HoldersChange): Promise<boolean> => {
    for (;;) {
      const known = await kvStore.get('places', flowId);
      const now = clock.now();
      const lasting = Object.entries(known?.value.holders ?? {}).filter(([, until]) => until > now);
      const holders = change(Object.fromEntries(lasting));
      if (holders === undefined) return false;
      const expectedVersion = known?.version ?? 0;
      const changed = { collection: 'places', id: flowId, value: { holders }, expectedVersion } as const;
      if ((await kvStore.commit(changed)) !== undefined) return true;
    }
  };
  const without = (entry: string) => (holders: Holders) =>
    Object.fromEntries(Object.entries(holders).filter(([holder]) => holder !== entry));
  const open = (flowId: string, entry: string): Place => {
    let released = false;
    return {
      renew: async () => {
        const until = clock.now() + leaseMs;
        await change(flowId, (holders) => (released ? undefined : { ...holders, [entry]: until }));
      },
      release: async () => {
        released = true;
        await change(flowId, without(entry)).catch((error: unknown) => deps.onError(error, { flowId }));
      },
    };
  };
  const nextLook = (flowId: string): number => {
    const now = clock.now();
    const at = Math.max(now + waitMs, (looks.get(flowId) ?? 0) + apartMs);
    looks.set(flowId, at);
    return at - now;
  };

  return {
    take: async (job, entry) => {
      // As the flow says now: a limit that was raised is for those that wait.
      const { concurrency } = deps.flows()[job.flowId] ?? (await definitionOf(deps, job));
      if (concurrency === undefined) return unlimited;
      const until = clock.now() + leaseMs;
      const taken = await change(job.flowId, (holders) => {
        const others = without(entry)(holders);
        return Object.keys(others).length < concurrency ? { ...others, [entry]: until } : undefined;
      });
      return taken ? open(job.flowId, entry) : { delayMs: nextLook(job.flowId) };
    },
  };
};
