/**
 * Group commit: the changes of two turns of the event loop are one transaction. Most of the cost of a transaction is the
 * pages that it writes, and those of neighbours are the same.
 */
import type { Transaction } from './database.ts';

export interface Group<W> {
  /** Resolves with the result of the write once its transaction holds; rejects when it alone has failed. */
  add(write: W): Promise<number | undefined>;
  /** Commits what waits, at once. */
  run(): void;
}

interface Waiting<W> {
  readonly write: W;
  readonly resolve: (version: number | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * At the end of the next turn: what has already arrived at the sockets comes along, and when nothing has, the next turn
 * is over at once.
 */
const soon = (run: () => void): void => {
  setImmediate(() => setImmediate(run));
};

/** `kept` is told of each write that has changed something, after its transaction. */
export const createGroup = <W>(
  transaction: Transaction,
  apply: (write: W) => number | undefined,
  kept: (write: W, version: number) => void,
): Group<W> => {
  let waiting: Waiting<W>[] = [];

  const settle = ({ write, resolve }: Waiting<W>, version: number | undefined): void => {
    if (version !== undefined) kept(write, version);
    resolve(version);
  };
  const alone = (one: Waiting<W>): void => {
    try {
      settle(
        one,
        transaction(() => apply(one.write)),
      );
    } catch (error) {
      one.reject(error);
    }
  };
  const together = (group: readonly Waiting<W>[]): readonly (number | undefined)[] | undefined => {
    try {
      return transaction(() => group.map(({ write }) => apply(write)));
    } catch {
      return undefined;
    }
  };
  const run = (): void => {
    const group = waiting;
    waiting = [];
    const versions = group.length > 1 ? together(group) : undefined;
    // What fails in a group shall not fail its neighbours: then each is a transaction of its own.
    if (versions === undefined) group.forEach(alone);
    else for (const [index, one] of group.entries()) settle(one, versions[index]);
  };

  return {
    add: (write) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      if (waiting.push({ write, resolve, reject }) === 1) soon(run);
      return promise;
    },
    run,
  };
};
