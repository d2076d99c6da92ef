import { endOfJob, endOfUpload } from '../domain/ended.ts';
import { isTerminal, type LoggedEvent, type ServiceEvent, type Topic } from '../domain/event.ts';
import type { JobRecord } from '../domain/job.ts';
import type { UploadRecord } from '../domain/upload.ts';
import type { EventBroadcaster } from '../ports/event-broadcaster.ts';
import type { Collections, KvStore } from '../ports/kv-store.ts';

/** One thing to tell: a logged event, or that the record has progressed to where it is now. */
export type Step = LoggedEvent | { readonly type: 'progress'; readonly seq: number; readonly timestamp: string };

/** The record as it is now, and what has happened since the batch before, in order. */
export interface Batch<T extends Topic> {
  readonly record: Collections[T];
  readonly steps: readonly Step[];
}

/**
 * Follows an upload or a job: first what is in its log after `since`, then what happens, without gap or duplicate,
 * until its terminal event or the signal. Nothing is buffered: a reader that takes its time gets fewer, larger
 * batches, in which only progress is coalesced. Ends at once, with no batch, when there is no such record.
 */
export type Follow = <T extends Topic>(
  topic: T,
  id: string,
  options: { readonly since: number; readonly signal: AbortSignal },
) => AsyncGenerator<Batch<T>, void, undefined>;

export const createFollow = (deps: {
  readonly kvStore: KvStore;
  readonly eventBroadcaster: EventBroadcaster;
}): Follow =>
  async function* follow(topic, id, { since, signal }) {
    const bell = createBell(signal);
    const unsubscribe = await deps.eventBroadcaster.subscribe(topic, id, bell.ring);
    let last = since;
    try {
      for (let first = true; !signal.aborted; first = false) {
        const entry = await deps.kvStore.get(topic, id);
        if (entry === undefined) return;
        const record = entry.value;
        // A number that was never given out would hide what comes.
        last = Math.min(last, record.seq);
        const steps = stepsBetween(last, record, await deps.kvStore.events(topic, id, last), endOf(topic, record));
        last = Math.max(last, record.seq);
        if (first || steps.length > 0) yield { record, steps };
        if (endOf(topic, record) !== undefined) return;
        await bell.rung();
      }
    } finally {
      unsubscribe();
      bell.close();
    }
  };

const endOf = (topic: Topic, record: UploadRecord | JobRecord): ServiceEvent | undefined =>
  topic === 'uploads' ? endOfUpload(record as UploadRecord) : endOfJob(record as JobRecord);

/** The log up to what the record knows, the latest progress in its place, and the end even if the log has lost it. */
const stepsBetween = (
  last: number,
  record: UploadRecord | JobRecord,
  log: readonly LoggedEvent[],
  end: ServiceEvent | undefined,
): readonly Step[] => {
  const steps: Step[] = log.filter((event) => event.seq <= record.seq);
  const { progressed } = record;
  if (progressed !== undefined && progressed.seq > last) {
    steps.push({ type: 'progress', seq: progressed.seq, timestamp: progressed.at });
    steps.sort((a, b) => a.seq - b.seq);
  }
  const lost = end !== undefined && last < record.seq && !steps.some((step) => isTerminal(step.type));
  return lost ? [...steps, { ...end, seq: record.seq, timestamp: record.updatedAt }] : steps;
};

/** Remembers a wake-up that comes while nobody waits. */
const createBell = (signal: AbortSignal) => {
  let pending = false;
  let wake = () => {};
  const ring = () => {
    pending = true;
    wake();
  };
  signal.addEventListener('abort', ring);
  return {
    ring,
    async rung(): Promise<void> {
      if (!pending) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      pending = false;
    },
    close: () => signal.removeEventListener('abort', ring),
  };
};
