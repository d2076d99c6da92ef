import type { StartClaim } from '../domain/claim.ts';
import { ServiceError } from '../domain/errors.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Entry } from '../ports/kv-store.ts';
import { type Asked, askFor, type ClaimDeps, holdClaim, release, takeTurn, waitForNews } from './claims.ts';
import type { StartFlow, StartRequest } from './start.ts';

export interface StartOnceRequest extends Omit<StartRequest, 'jobId'> {
  /** The client's name for this request: 1 to 255 visible ASCII characters. */
  readonly idempotencyKey: string;
}

/**
 * Starts a flow once for each key of a client: the same request with the same key gets the job that the first one has
 * started (`replayed`), for a day. Those that come at the same time wait for the first. A start that fails frees its
 * key. Errors: those of `StartFlow`, and `IDEMPOTENCY_CONFLICT`: the key is another request's, or its job is still
 * being started after all the waiting (`retryAfter`).
 */
export type StartOnce = (request: StartOnceRequest) => Promise<{ readonly job: JobRecord; readonly replayed: boolean }>;

interface StartOnceDeps extends ClaimDeps {
  readonly start: StartFlow;
  /** Milliseconds that a request waits for another that starts its job. */
  readonly patience: number;
}

export const createStartOnce =
  (deps: StartOnceDeps): StartOnce =>
  async ({ idempotencyKey, ...request }) => {
    const { clientId, ...what } = request;
    const asked = askFor(clientId, idempotencyKey, what);
    const giveUpAt = deps.clock.now() + deps.patience;
    for (;;) {
      const turn = await takeTurn(deps, asked);
      if (turn.is === 'mine') return { job: await startClaimed(deps, asked, turn.claim, request), replayed: false };
      if (turn.is === 'job') {
        // Whoever started it may still be waiting for the disk.
        await deps.kvStore.flush();
        return { job: turn.job, replayed: true };
      }
      requirePatience(deps, giveUpAt);
      await waitForNews(deps, asked, turn.claim, giveUpAt);
    }
  };

const startClaimed = async (
  deps: StartOnceDeps,
  asked: Asked,
  claim: Entry<StartClaim>,
  request: StartRequest,
): Promise<JobRecord> => {
  const letGo = holdClaim(deps, asked, claim);
  const [outcome] = await Promise.allSettled([deps.start({ ...request, jobId: claim.value.jobId })]);
  const held = await letGo();
  if (outcome.status === 'fulfilled') return outcome.value;
  // A key that cannot be freed now is held until the claim may be taken over.
  await release(deps, asked, held).catch((error: unknown) => deps.onError(error, { jobId: claim.value.jobId }));
  throw outcome.reason;
};

const requirePatience = ({ clock }: StartOnceDeps, giveUpAt: number): void => {
  if (clock.now() < giveUpAt) return;
  throw new ServiceError('IDEMPOTENCY_CONFLICT', 'Another request with this idempotency key is starting the job', {
    retryAfter: 1,
  });
};
