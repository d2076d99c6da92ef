import type { Readable } from 'node:stream';
import type { Ceiling } from './ceiling.ts';

/** What a request says of the body that it brings. */
export interface Announced {
  /** `Upload-Offset`. Absent: the body counts whole or not at all (WIRE 1, rule 3). */
  readonly offset?: number | undefined;
  /** `Content-Length`, when the request has one. */
  readonly contentLength?: number | undefined;
  /** `Upload-Length`: fixes a length that was deferred. */
  readonly uploadLength?: number | undefined;
}

export interface AppendRequest extends Announced {
  readonly id: string;
  readonly clientId?: string | undefined;
  /** Its chunks are given up to the store: see `AppendOptions.owned`. */
  readonly body: Readable;
  /** Called when nothing speaks against the body and it is about to be read. */
  readonly onAccepted?: (() => void) | undefined;
  /** Asked after the append when there was no offset: `false` if the answer is known not to have reached the client. */
  readonly delivered?: (() => Promise<boolean>) | undefined;
}

/** A request with what was found out about it. */
export type Accepted = AppendRequest & { readonly ceiling: Ceiling };
