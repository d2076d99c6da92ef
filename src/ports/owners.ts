/**
 * Who may write an upload: one owner at a time, over all replicas (WIRE 1, rule 5).
 *
 * Owning keeps writers out of each other's way and lets a newcomer displace a stuck one. That no two of them can both
 * record bytes does not rest on it: every commit is made on the version of the record that its writer took over, and a
 * takeover that cannot wait writes the record first. That version is the fencing epoch.
 */

/** Why an owner must commit what it has and let go: a newcomer takes the upload over, or the process drains. */
export type StopReason = 'displaced' | 'draining';

export interface Owner {
  /** Set from the moment at which the owner must let go. */
  readonly stopped: StopReason | undefined;
  /** Calls the listener when that happens; at most one listener, none when it has happened already. */
  onStop(listener: () => void): void;
  /** Whether somebody waits who may have the upload as soon as its owner has been silent for a while. */
  isAwaited(): boolean;
  /** Lets go; may be repeated. */
  release(): void;
}

export interface Owners {
  /** The upload is the caller's until it releases it; `undefined`: it is somebody else's. `UNAVAILABLE` while draining. */
  take(id: string): Promise<Owner | undefined>;
  /**
   * Resolves with `true` once the upload has no owner, with `false` after `waitMs`. `ask`: `now` stops the owner at
   * once, `wait` lets it go on and only tells it (`isAwaited`). Nothing is polled.
   */
  free(id: string, options: { readonly ask: 'now' | 'wait'; readonly waitMs: number }): Promise<boolean>;
  /** Stops all owners of this process, waits until they have let go, and refuses new ones. */
  drain(): Promise<void>;
}
