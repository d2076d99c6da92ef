/**
 * Tells workers which job to look at. An entry is only a hint, `{jobId}`: the job record is the truth, so an entry may
 * be lost (the engine's recovery finds it) or delivered twice (the record's lease and epoch decide).
 *
 * Deliberately not part of it: retries, timeouts, results, priorities.
 */
export interface QueueEntry {
  /** Adding an id that is still waiting or held does nothing. */
  readonly id: string;
  readonly jobId: string;
}

/** What becomes of an entry after its handler: gone, or back in the queue after `delayMs`. */
export type QueueOutcome = 'done' | { readonly delayMs: number };

/** Called with one entry at a time per slot. A throw puts the entry back after a second. */
export type QueueHandler = (entry: QueueEntry) => Promise<QueueOutcome>;

export interface Consumer {
  /** Takes no new entries and waits for the handlers that run; what they return is still obeyed. */
  close(): Promise<void>;
}

export interface JobQueue {
  enqueue(entry: QueueEntry, options?: { readonly delayMs?: number }): Promise<void>;
  /** Up to `concurrency` handlers at once. A holder that dies loses its entries, and they are delivered again. */
  consume(handler: QueueHandler, options: { readonly concurrency: number }): Consumer;
  /** A real round trip; throws when the queue cannot answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
