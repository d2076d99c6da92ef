/** Directories: made when a file wants them, and made durable together with the names in them. */
import fs from 'node:fs';
import { mkdir, open, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './failures.ts';

/** Turns a callback of `node:fs` into a promise; the function is looked up at each call. */
export const settled = (run: (done: (error: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => run((error) => (error === null ? resolve() : reject(error))));

/** Syncs a file or a directory that is not open. */
export const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await settled((done) => fs.fsync(handle.fd, done));
  } finally {
    await handle.close();
  }
};

/** How often a file finds its directory gone again before that counts as an error: removals prune empty ones. */
const tries = 3;

/** Removes the directories above `path` that have become empty, up to `root`. */
export const prune = async (path: string, root: string): Promise<void> => {
  try {
    for (let directory = dirname(path); directory.length > root.length; directory = dirname(directory)) {
      await rmdir(directory);
    }
  } catch {
    // Not empty, or taken away by someone else: either way there is nothing left to do.
  }
};

/** What the files of a store share about the directories that they are in. */
export interface Directories {
  /** Runs `work`, which needs the directory of `path`, and makes that directory when it turns out to be missing. */
  within<T>(path: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when the name of `path`, already there, survives a power cut. Callers at the same time share a sync. */
  syncName(path: string): Promise<void>;
}

/** `durable: false` makes directories only and syncs nothing. */
export const createDirectories = (durable: boolean): Directories => {
  // Directories that are being made and synced. Another file may already be in one of them.
  const making = new Set<Promise<void>>();
  const shared = createSharedSync();

  const make = async (directory: string): Promise<void> => {
    const first = await mkdir(directory, { recursive: true });
    if (first === undefined || !durable) return;
    for (let path = directory; path.length >= first.length; path = dirname(path)) await shared(dirname(path));
  };
  const within = async <T>(path: string, work: () => Promise<T>, left = tries): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || left === 0) throw error;
    }
    const made = make(dirname(path));
    making.add(made);
    await made.finally(() => making.delete(made));
    return within(path, work, left - 1);
  };
  const syncName = async (path: string): Promise<void> => {
    if (durable) await Promise.all([shared(dirname(path)), ...making]);
  };
  return { within, syncName };
};

/** One sync per directory at a time; who comes while it runs waits for the next, which they all share. */
const createSharedSync = (): ((directory: string) => Promise<void>) => {
  const running = new Map<string, { readonly done: Promise<void>; next?: Promise<void> }>();

  const start = (directory: string): Promise<void> => {
    const sync: { done: Promise<void>; next?: Promise<void> } = {
      done: syncPath(directory).finally(() => {
        if (sync.next === undefined) running.delete(directory);
      }),
    };
    running.set(directory, sync);
    return sync.done;
  };
  const again = (directory: string) => (): Promise<void> => start(directory);

  return (directory) => {
    const sync = running.get(directory);
    if (sync === undefined) return start(directory);
    sync.next ??= sync.done.then(again(directory), again(directory));
    return sync.next;
  };
};
