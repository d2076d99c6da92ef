/** Makes commits durable: one `fdatasync` of the WAL, off the main thread, for all who wait at the time. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { ServiceError } from '../../../domain/errors.ts';

export interface Flush {
  /** Tells of a commit. */
  written(): void;
  /** Resolves when every commit told of is durable. */
  flush(): Promise<void>;
  /** Throws when a flush has failed, as nothing is known to be durable from then on. */
  check(): void;
  /** Waits for the syncs that are due; there are none after it. */
  close(): Promise<void>;
}

/** For `DURABILITY=process`: what the operating system has taken is good enough. */
export const noFlush: Flush = {
  written: () => {},
  flush: async () => {},
  check: () => {},
  close: async () => {},
};

const fdatasync = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error === null ? resolve() : reject(error))));

/**
 * Syncs the WAL of the open database at `path`. SQLite locks the database file and not the WAL, so the second
 * descriptor takes no lock away when it is closed; and the WAL stays the same file until the database is closed.
 */
export const walFlush = (path: string): Flush => {
  const fd = openWal(path);
  /** Commits so far, and how many of them the newest sync covers, be it finished or not. */
  let commits = 0;
  let covered = 0;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let failure: ServiceError | undefined;

  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  const sync = async (): Promise<void> => {
    try {
      await fdatasync(fd);
    } catch (error) {
      // The kernel forgets what it could not write, so a second try would claim too much.
      failure ??= new ServiceError('UNAVAILABLE', undefined, { cause: error });
      throw failure;
    }
  };
  const start = (): Promise<void> => {
    next = undefined;
    covered = commits;
    running = sync();
    return running;
  };

  return {
    written: () => {
      commits += 1;
    },
    flush: async () => {
      check();
      if (commits === covered) return running;
      // The newest sync began too early for some commit: the next one is for everybody who comes before it begins.
      next ??= running.then(start);
      return next;
    },
    check,
    close: async () => {
      const last = [running, next];
      failure ??= new ServiceError('UNAVAILABLE', undefined, { cause: new Error('The store is closed') });
      await Promise.allSettled(last);
      fs.closeSync(fd);
    },
  };
};

/** Makes the name of a new database and its WAL durable too. */
const openWal = (path: string): number => {
  const directory = fs.openSync(dirname(path), 'r');
  fs.fsyncSync(directory);
  fs.closeSync(directory);
  return fs.openSync(`${path}-wal`, 'r');
};
