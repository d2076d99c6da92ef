/**
 * Events, step 3 of an upload's path: a state change and what it tells are written together, then whoever watches is
 * woken. `publish` is the only way to write uploads and jobs; `follow` reads one of them from its log and then live, for
 * a socket that `http/routes/events` serves.
 */
import type { LoggedEvent, Sequenced, ServiceEvent, Topic } from '../domain/event.ts';
import type { UsageChange } from '../domain/quota.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventBroadcaster } from '../ports/event-broadcaster.ts';
import type { Collections, Entry, KvStore } from '../ports/kv-store.ts';

export interface Publication<T extends Topic> {
  readonly topic: T;
  /** The record as it shall be; its `seq` is still the old one. */
  readonly value: Collections[T];
  /** The version it was made from; 0: it is new. */
  readonly expectedVersion: number;
  readonly events?: readonly ServiceEvent[];
  /** The change is progress, of a job's node: watchers get a frame, but it is not logged. */
  readonly progress?: boolean | { readonly nodeId: string };
  /** See `Change.dueAt`. */
  readonly dueAt?: number | undefined;
  /** See `Change.usage`. */
  readonly usage?: UsageChange | undefined;
}

/** Writes the change; `undefined` when another writer was first, and then nothing has happened. */
export type Publish = <T extends Topic>(publication: Publication<T>) => Promise<Entry<Collections[T]> | undefined>;

export const createPublish =
  (deps: {
    readonly kvStore: KvStore;
    readonly eventBroadcaster: EventBroadcaster;
    readonly clock: Clock;
    /** A wake-up that fails is not an error of the change: watchers catch up at the next one. */
    readonly onNotifyError: (error: unknown) => void;
  }): Publish =>
  async (publication) => {
    const { topic, expectedVersion, dueAt, usage } = publication;
    const at = new Date(deps.clock.now()).toISOString();
    const { value, events } = stamp(publication.value, publication.events ?? [], publication.progress ?? false, at);
    const version = await deps.kvStore.commit({
      collection: topic,
      id: value.id,
      value,
      expectedVersion,
      events,
      ...(dueAt === undefined ? {} : { dueAt }),
      ...(usage === undefined ? {} : { usage }),
    });
    if (version === undefined) return undefined;
    if (value.seq !== publication.value.seq) deps.eventBroadcaster.notify(topic, value.id).catch(deps.onNotifyError);
    return { value, version };
  };

/** Numbers the events: progress first, since the last bytes arrive before the upload is complete. */
const stamp = <T extends Sequenced>(
  record: T,
  events: readonly ServiceEvent[],
  progress: NonNullable<Publication<Topic>['progress']>,
  at: string,
) => {
  let seq = record.seq;
  const node = typeof progress === 'object' ? progress : {};
  const progressed = progress === false ? {} : { progressed: { seq: ++seq, at, ...node } };
  const logged: LoggedEvent[] = events.map((event) => ({ ...event, seq: ++seq, timestamp: at }));
  return { value: { ...record, ...progressed, seq, updatedAt: at }, events: logged };
};
