/** What a conformance suite is given for each of its tests. */

export interface Fixture<T> {
  /** Fresh: nothing of another test is in it. */
  readonly driver: T;
  /** Another replica's driver over the same store; absent where only one process can have the store. */
  readonly peer?: T;
  /** Closes the drivers and removes what they kept. */
  teardown(): Promise<void>;
}

export type Make<T> = () => Promise<Fixture<T>>;
