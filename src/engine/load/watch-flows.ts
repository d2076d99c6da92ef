/**
 * Tells that the flows directory has changed. The directory is watched and not its files: a ConfigMap changes by a new
 * link `..data`, and editors put another file in the place of the old one. Nothing here keeps the process alive.
 */
import { type FSWatcher, watch } from 'node:fs';

export interface WatchFlowsOptions {
  readonly directory: string;
  /** Called once the directory has been quiet for a moment after a change. */
  readonly onChange: () => void;
  /** Hears once why the directory cannot be watched; it is watched again as soon as it can be. */
  readonly onError: (error: Error) => void;
}

export interface FlowsWatch {
  /** Calls `onChange` at once, and watches what the path of the directory leads to now. */
  look(): void;
  close(): void;
}

/** Milliseconds without a change: what belongs together is there, and files are written to their end. */
const quietMs = 300;

/** How often a directory that cannot be watched is tried again, milliseconds. */
const retryMs = 2000;

/** Watches until it is closed, also across times in which there is no such directory. */
export const watchFlows = ({ directory, onChange, onError }: WatchFlowsOptions): FlowsWatch => {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  const later = (ms: number, work: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(work, ms).unref();
  };
  const changed = () => later(quietMs, reopen);
  const fail = (error: Error) => {
    if (!failing) onError(error);
    failing = true;
    later(retryMs, reopen);
  };
  const open = (): boolean => {
    watcher?.close();
    try {
      watcher = watch(directory, { persistent: false }, changed).on('error', fail);
      failing = false;
      return true;
    } catch (error) {
      fail(error as Error);
      return false;
    }
  };
  // Another directory may be under the name by now, and the old one is what is watched.
  const reopen = () => {
    if (open()) onChange();
  };

  open();
  return {
    look() {
      clearTimeout(timer);
      open();
      onChange();
    },
    close() {
      clearTimeout(timer);
      watcher?.close();
    },
  };
};
