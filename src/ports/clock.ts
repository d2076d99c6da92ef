/** Time and chance, passed in so that tests need no fake timers. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * An id that cannot be guessed: 32 hex digits, of which 12 are the time in milliseconds and 20 are chance (80 bits).
   * Like UUID version 7 (RFC 9562, section 5.7): what is made at the same time stands together in a database.
   */
  newId(): string;
}
