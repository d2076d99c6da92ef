/** How much may wait to be written: enough to keep the disk busy, and little in all however many write at a time. */

/** Bytes for one writer, and for all writers of a store together. */
const most = 1_048_576;
const inAll = 64 * most;
/** One chunk of a socket, which each writer must be able to keep. */
const least = 65_536;

export interface Room {
  /** Bytes that one of the present writers may keep waiting. */
  each(): number;
  /** A writer comes; the function it gives is called once when it goes. */
  enter(): () => void;
}

export const createRoom = (): Room => {
  let writers = 0;
  return {
    each: () => Math.max(least, Math.min(most, Math.floor(inAll / writers))),
    enter: () => {
      writers += 1;
      return () => {
        writers -= 1;
      };
    },
  };
};
