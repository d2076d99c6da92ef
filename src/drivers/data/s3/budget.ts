/**
 * The memory that all uploads of a process share for bytes that the server has not acknowledged yet. Over it, nobody
 * takes more until some are acknowledged. Where none are on their way, uploads that are too slow to fill a part hold it
 * all: the largest of them then puts what it has into a tail.
 */

/** One upload's share. */
export interface Share {
  take(bytes: number): void;
  give(bytes: number): void;
  leave(): void;
}

/** What the budget may ask of an upload. */
export interface Holder {
  /** Bytes that wait for more to come. */
  idle(): number;
  /** Puts them into a tail. */
  spill(): void;
  /** There may be room again. */
  wake(): void;
}

export interface Budget {
  enter(holder: Holder): Share;
  isOver(): boolean;
  /** Bytes in use. */
  readonly used: number;
}

/** Leaves 20 uploads at a time two parts each, beside the one that fills. */
const defaultBytes = 192 * 1_048_576;

export const createBudget = (bytes: number = defaultBytes): Budget => {
  const holders = new Set<Holder>();
  let used = 0;

  const isOver = (): boolean => used > bytes;
  /** What has been taken and waits for nothing will be acknowledged sooner or later. */
  const idle = (): number => [...holders].reduce((sum, holder) => sum + holder.idle(), 0);
  const relieve = (): void => {
    if (!isOver() || idle() < used) return;
    const largest = [...holders].reduce((most, holder) => (holder.idle() > most.idle() ? holder : most));
    largest.spill();
  };

  const enter = (holder: Holder): Share => {
    holders.add(holder);
    const give = (count: number): void => {
      if (count === 0) return;
      const was = isOver();
      used -= count;
      relieve();
      if (was && !isOver()) for (const one of holders) one.wake();
    };
    return {
      take: (count) => {
        used += count;
        relieve();
      },
      give,
      leave: () => {
        holders.delete(holder);
      },
    };
  };
  return {
    enter,
    isOver,
    get used() {
      return used;
    },
  };
};
