/**
 * Wakes whoever watches an upload or a job, on every replica. A wake-up carries nothing and may be lost or doubled:
 * the listener reads the log and the record again. Nothing may need one to make progress.
 */
import type { Topic } from '../domain/event.ts';

export interface EventBroadcaster {
  notify(topic: Topic, id: string): Promise<void>;
  /** Resolves once wake-ups arrive; the function it gives ends the subscription. */
  subscribe(topic: Topic, id: string, listener: () => void): Promise<() => void>;
  /** A real round trip; throws when the bus cannot answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
