/** The scratch directory of this process: a folder for each attempt, and a bound on all of them together. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../domain/errors.ts';

export interface Scratch {
  /** Removes what a former life has left. */
  clear(): Promise<void>;
  /**
   * Runs `work` with a folder of that name, which is gone when it settles. Its signal is aborted with the outer one, and
   * with `RESOURCE_EXHAUSTED` when all folders together are over the bound and this one is the largest.
   */
  within<T>(
    name: string,
    signal: AbortSignal,
    work: (directory: string, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

export interface ScratchOptions {
  readonly directory: string;
  /** Bytes of all attempts together. */
  readonly max: number;
  /** Milliseconds between two looks; there are none while nothing runs. */
  readonly interval?: number;
  readonly onError: (error: unknown, context: Record<string, unknown>) => void;
}

export const createScratch = ({ directory, max, interval = 1000, onError }: ScratchOptions): Scratch => {
  /** What runs, by the path of its folder. */
  const running = new Map<string, AbortController>();
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const sizes = await Promise.all([...running.keys()].map(async (path) => ({ path, size: await sizeOf(path) })));
    const used = sizes.reduce((sum, { size }) => sum + size, 0);
    if (used <= max) return;
    // Whoever has taken most has to go, not whoever comes last.
    const [largest] = sizes.toSorted((one, other) => other.size - one.size);
    const details = { limit: 'scratch', max, actual: used };
    const error = new ServiceError('RESOURCE_EXHAUSTED', `The work of nodes takes more than ${max} bytes`, { details });
    running.get(largest?.path ?? '')?.abort(error);
  };
  const watch = (): void => {
    clearTimeout(timer);
    if (running.size === 0) return;
    timer = setTimeout(
      () =>
        void look()
          .catch((error: unknown) => onError(error, { directory }))
          .finally(watch),
      interval,
    );
  };

  return {
    async clear() {
      await rm(directory, { recursive: true, force: true });
      await mkdir(directory, { recursive: true });
    },
    async within(name, signal, work) {
      const path = join(directory, name);
      const controller = new AbortController();
      running.set(path, controller);
      if (running.size === 1) watch();
      try {
        await mkdir(path, { recursive: true });
        return await work(path, AbortSignal.any([signal, controller.signal]));
      } finally {
        running.delete(path);
        if (running.size === 0) clearTimeout(timer);
        await rm(path, { recursive: true, force: true });
      }
    },
  };
};

/** Bytes of all files below a folder; what is removed meanwhile counts nothing. */
const sizeOf = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};
