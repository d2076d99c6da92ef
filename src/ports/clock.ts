/** Time and chance, passed in so that tests need no fake timers. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** An id that cannot be guessed: 128 random bits as 32 hex digits. */
  newId(): string;
}
