/** Idempotency keys: taking one, giving it back, and forgetting it in time. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { StartClaim } from '../domain/claim.ts';
import { ServiceError } from '../domain/errors.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Entry } from '../ports/kv-store.ts';
import type { EngineDeps } from './records.ts';

export interface ClaimDeps extends Pick<EngineDeps, 'kvStore' | 'eventBroadcaster' | 'clock' | 'onError'> {
  /** A claim that was not renewed for so long may be taken over, milliseconds. */
  readonly claimMs: number;
}

/** How long a key stands for its job, milliseconds. */
const keptMs = 24 * 3_600_000;

/** A key as it is asked for. */
export interface Asked {
  /** The id of the claim: clients do not know of each other's keys. */
  readonly id: string;
  /** See `StartClaim.request`. */
  readonly request: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The key of this client, for this request. Errors: `VALIDATION_ERROR`, see `canonicalJson`. */
export const askFor = (clientId: string | undefined, key: string, request: object): Asked => ({
  id: sha256(JSON.stringify([clientId ?? null, key])),
  request: sha256(canonicalJson(request)),
});

/** What a key stands for: a job, a claim that this request has just made, or one of another that starts the job. */
export type Turn =
  | { readonly is: 'job'; readonly job: JobRecord }
  | { readonly is: 'mine' | 'theirs'; readonly claim: Entry<StartClaim> };

/** Looks the key up, and claims it where nobody else has. Errors: `IDEMPOTENCY_CONFLICT` (it is another request's). */
export const takeTurn = async (deps: ClaimDeps, asked: Asked): Promise<Turn> => {
  const now = deps.clock.now();
  const held = await deps.kvStore.get('claims', asked.id);
  if (held === undefined || held.value.expiresAt <= now) {
    const base = { jobId: deps.clock.newId(), request: asked.request, expiresAt: now + keptMs };
    return claim(deps, asked, base, held?.version ?? 0);
  }
  if (held.value.request !== asked.request) {
    throw new ServiceError('IDEMPOTENCY_CONFLICT', 'The idempotency key has come with another request before');
  }
  const job = await deps.kvStore.get('jobs', held.value.jobId);
  if (job !== undefined) return { is: 'job', job: job.value };
  if (held.value.until > now) return { is: 'theirs', claim: held };
  // Its process has died, or so it seems. The job keeps its id, so that only one of the two can create it.
  return claim(deps, asked, held.value, held.version);
};

const claim = async (
  deps: ClaimDeps,
  asked: Asked,
  base: Omit<StartClaim, 'until'>,
  expectedVersion: number,
): Promise<Turn> => {
  const made = await write(deps, asked, base, expectedVersion);
  return made === undefined ? takeTurn(deps, asked) : { is: 'mine', claim: made };
};

/** Writes the claim with new time; `undefined` when another request was first. */
const write = async (
  deps: ClaimDeps,
  { id }: Asked,
  base: Omit<StartClaim, 'until'>,
  expectedVersion: number,
): Promise<Entry<StartClaim> | undefined> => {
  const value = { ...base, until: deps.clock.now() + deps.claimMs };
  const change = { collection: 'claims', id, value, expectedVersion, dueAt: value.expiresAt } as const;
  const version = await deps.kvStore.commit(change);
  return version === undefined ? undefined : { value, version };
};

/** Renews a claim until the function that it gives is called, which tells the claim as it is then. */
export const holdClaim = (
  deps: ClaimDeps,
  asked: Asked,
  claimed: Entry<StartClaim>,
): (() => Promise<Entry<StartClaim>>) => {
  let held = claimed;
  let renewed = Promise.resolve();
  const renew = async (): Promise<void> => {
    held = (await write(deps, asked, held.value, held.version)) ?? held;
  };
  const timer = setInterval(() => {
    renewed = renewed.then(renew).catch((error: unknown) => deps.onError(error, { jobId: claimed.value.jobId }));
  }, deps.claimMs / 3);
  return async () => {
    clearInterval(timer);
    await renewed;
    return held;
  };
};

/** Frees the key of a start that has failed, and tells those who wait. One whose job exists all the same is kept. */
export const release = async (deps: ClaimDeps, { id }: Asked, { value, version }: Entry<StartClaim>): Promise<void> => {
  if ((await deps.kvStore.get('jobs', value.jobId)) !== undefined) return;
  // Whoever has taken the claim over keeps it.
  if (await deps.kvStore.remove('claims', id, version)) await deps.eventBroadcaster.notify('jobs', value.jobId);
};

/** Waits until another's claim has become a job or is gone; not beyond `until`, milliseconds since 1970. */
export const waitForNews = async (
  deps: ClaimDeps,
  { id }: Asked,
  { value, version }: Entry<StartClaim>,
  until: number,
): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = await deps.eventBroadcaster.subscribe('jobs', value.jobId, resolve);
  const timer = setTimeout(resolve, Math.min(until, value.until) - deps.clock.now());
  try {
    // What has happened before the subscription wakes nobody.
    const isClaimed = (await deps.kvStore.get('claims', id))?.version === version;
    if (isClaimed && (await deps.kvStore.get('jobs', value.jobId)) === undefined) await promise;
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
};

/** Forgets a key whose time is over. */
export const forgetClaim = async (
  { kvStore, clock }: Pick<ClaimDeps, 'kvStore' | 'clock'>,
  id: string,
): Promise<void> => {
  const entry = await kvStore.get('claims', id);
  if (entry !== undefined && entry.value.expiresAt <= clock.now()) await kvStore.remove('claims', id, entry.version);
};
