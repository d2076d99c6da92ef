/**
 * The job queue of a single process: a table of entries in the database of the records, and one timer.
 *
 * `leases` holds the statements. Whoever has an entry for consumers, and whoever frees a slot, asks for a turn; a turn
 * renews what is held, hands out what is due and sets the timer to the next time anything can change.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../../ports/clock.ts';
import type { Consumer, JobQueue, QueueHandler, QueueOutcome } from '../../../ports/job-queue.ts';
import { answer } from '../../kv/sqlite/database.ts';
import { type Claim, createLeases, type Leases } from './leases.ts';

/** Milliseconds until an entry comes back after its handler has thrown, and until a failed turn is tried again. */
const afterFailure = 1000;
/** Milliseconds; a longer delay makes `setTimeout` fire at once. */
const longestTimer = 2_147_483_647;

export interface SqliteQueueOptions {
  /** Open for this process alone. */
  readonly database: DatabaseSync;
  readonly clock: Clock;
  /** Milliseconds for which a claim holds without renewal; it is renewed at half of them. */
  readonly lock?: number;
}

export interface SqliteQueue extends JobQueue {
  /** Stops at once, as the database is about to be closed. Handlers that run keep their entries until it is reopened. */
  abandon(): void;
}

/** Opens the queue in `database`. At most one per database. */
export const sqliteQueue = ({ database, clock, lock = 10_000 }: SqliteQueueOptions): SqliteQueue => {
  const leases = createLeases(database);
  const holder = createHolder(leases, clock, lock);
  const turns = createTurns(leases, clock, holder);

  return {
    enqueue: (entry, { delayMs = 0 } = {}) =>
      answer(() => {
        leases.insert(entry, clock.now() + delayMs);
        turns.ask();
      }),
    consume: (handler, { concurrency }) => {
      const slots = createSlots(handler, concurrency, holder, turns.ask);
      turns.add(slots);
      return slots;
    },
    ping: () =>
      answer(() => {
        leases.nextAt();
      }),
    close: async () => {
      await Promise.all(turns.consumers().map((consumer) => consumer.close()));
      turns.stop();
    },
    abandon: turns.stop,
  };
};

/** Claims entries, and keeps their leases alive until they are settled. */
const createHolder = (leases: Leases, clock: Clock, lock: number) => {
  const held = new Set<Claim>();
  let claims = 0;
  let renewAt = 0;

  return {
    /** When `renew` wants to be called. */
    renewAt: (): number | undefined => (held.size > 0 ? renewAt : undefined),
    /** Comes before anything is freed: a process that stood still for longer than the lock must not lose its own. */
    renew: (): void => {
      const now = clock.now();
      if (held.size === 0 || now < renewAt) return;
      for (const claim of held) leases.renew(claim, now + lock);
      renewAt = now + lock / 2;
    },
    claim: (): Claim | undefined => {
      const now = clock.now();
      claims += 1;
      const claim = leases.claim(String(claims), now, now + lock);
      if (claim === undefined) return undefined;
      if (held.size === 0) renewAt = now + lock / 2;
      held.add(claim);
      return claim;
    },
    settle: (claim: Claim, outcome: QueueOutcome): void => {
      held.delete(claim);
      try {
        if (outcome === 'done') leases.remove(claim);
        else leases.release(claim, clock.now() + outcome.delayMs);
      } catch {
        // The disk is full, or the database is closed: the lease lapses and the entry is delivered again.
      }
    },
  };
};

type Holder = ReturnType<typeof createHolder>;

interface Slots extends Consumer {
  hasRoom(): boolean;
  /** Claims and starts as much as there is room for. */
  fill(): void;
}

const createSlots = (handler: QueueHandler, concurrency: number, holder: Holder, freed: () => void): Slots => {
  const running = new Set<Promise<void>>();
  let closed = false;

  const run = async (claim: Claim): Promise<void> => {
    let outcome: QueueOutcome = { delayMs: afterFailure };
    try {
      outcome = await handler({ id: claim.id, jobId: claim.jobId });
    } catch {
      // What went wrong is the handler's to tell; here the entry only comes back later.
    }
    holder.settle(claim, outcome);
  };
  const start = (claim: Claim): void => {
    const done = run(claim).finally(() => {
      running.delete(done);
      freed();
    });
    running.add(done);
  };
  const hasRoom = (): boolean => !closed && running.size < concurrency;

  return {
    hasRoom,
    fill: () => {
      while (hasRoom()) {
        const claim = holder.claim();
        if (claim === undefined) return;
        start(claim);
      }
    },
    close: async () => {
      closed = true;
      await Promise.all(running);
    },
  };
};

/** Hands out entries, when asked and when the timer says so. */
const createTurns = (leases: Leases, clock: Clock, holder: Holder) => {
  const consumers = new Set<Slots>();
  let asked: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const ask = (): void => {
    // Not at once: handlers that return immediately would otherwise keep the loop from its other work.
    if (!stopped) asked ??= setImmediate(turn);
  };
  const turn = (): void => {
    asked = undefined;
    clearTimeout(timer);
    if (stopped) return;
    try {
      setTimer(handOut());
    } catch {
      // Whoever writes a record meets the same error, and says so.
      setTimer(clock.now() + afterFailure);
    }
  };
  const handOut = (): number => {
    holder.renew();
    leases.lapse(clock.now());
    for (const slots of consumers) slots.fill();
    const room = [...consumers].some((slots) => slots.hasRoom());
    // Without room, what is due waits for a slot and not for a time.
    const nextAt = room ? leases.nextAt() : undefined;
    return Math.min(nextAt ?? Infinity, holder.renewAt() ?? Infinity);
  };
  const setTimer = (at: number): void => {
    if (at !== Infinity) timer = setTimeout(turn, Math.min(Math.max(at - clock.now(), 1), longestTimer));
  };

  return {
    ask,
    add: (slots: Slots): void => {
      consumers.add(slots);
      ask();
    },
    consumers: (): Slots[] => [...consumers],
    stop: (): void => {
      stopped = true;
      clearImmediate(asked);
      clearTimeout(timer);
    },
  };
};
