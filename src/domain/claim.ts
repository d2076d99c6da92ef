/** An idempotency key of a client and the job that it stands for (WIRE 3). */
export interface StartClaim {
  /** Chosen before there is a job: whoever starts it, and however often, there can only be one. */
  readonly jobId: string;
  /** SHA-256 of the request that came with the key. */
  readonly request: string;
  /** Who claimed it is given so long to start the job; then another request may. Milliseconds since 1970. */
  readonly until: number;
  /** From then on the key stands for nothing. Milliseconds since 1970. */
  readonly expiresAt: number;
}
