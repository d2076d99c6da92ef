/**
 * Events as they are logged: one ordered log per upload and per job, numbered from 1. What the socket sends (WIRE 5)
 * is made from them in `http/frames`; URLs and progress are not stored here but read from the record when a frame
 * is made.
 */
import type { ErrorCode } from './errors.ts';

/** Which log an event belongs to. */
export type Topic = 'uploads' | 'jobs';

export interface EventError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly nodeId?: string;
  /** Facts for programs: the limit that was passed, for example. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export type UploadEvent =
  | { readonly type: 'upload_started' }
  | { readonly type: 'upload_complete' }
  | { readonly type: 'upload_error'; readonly error: EventError };

export type JobEvent =
  | { readonly type: 'flow_started' | 'flow_paused' | 'flow_resumed' | 'flow_cancelled' | 'flow_complete' }
  | { readonly type: 'flow_error'; readonly error: EventError }
  | { readonly type: 'node_started' | 'node_completed'; readonly nodeId: string }
  | { readonly type: 'node_skipped'; readonly nodeId: string; readonly error?: EventError }
  | { readonly type: 'node_retrying'; readonly nodeId: string; readonly attempt: number; readonly error: EventError }
  | { readonly type: 'node_failed'; readonly nodeId: string; readonly error: EventError };

export type ServiceEvent = UploadEvent | JobEvent;

/** An event in its log. `timestamp` is ISO 8601. */
export type LoggedEvent = ServiceEvent & { readonly seq: number; readonly timestamp: string };

/** What every record with a log carries: the last number given out, and its latest progress, of a job's node. */
export interface Sequenced {
  readonly seq: number;
  readonly progressed?: { readonly seq: number; readonly at: string; readonly nodeId?: string };
}

const terminal: ReadonlySet<string> = new Set([
  'upload_complete',
  'upload_error',
  'flow_complete',
  'flow_error',
  'flow_cancelled',
]);

/** Whether nothing follows an event of this type. */
export const isTerminal = (type: string): boolean => terminal.has(type);
