/** One child process as the driver sees it from outside: its end, and its memory. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TinypoolChannel } from 'tinypool';
import { ServiceError } from '../domain/errors.ts';
import type { WorkerNotice } from '../ports/worker-pool.ts';
import type { WorkerBegin, WorkerMessage } from './program.ts';

/** Milliseconds between two looks at the memory of a child. */
const memoryInterval = 250;
/** Milliseconds between two looks at whether a killed child is gone; it takes about 20. */
const goneInterval = 5;

/** Kills a process of our own and waits until it can write nothing more. */
export const end = async (pid: number): Promise<void> => {
  signalled(pid, 'SIGKILL');
  await gone(pid);
};

const gone = async (pid: number): Promise<void> => {
  while (signalled(pid, 0)) await sleep(goneInterval);
};

/** Whether the process was there to get the signal; 0 is none, and only asks. */
const signalled = (pid: number, signal: 'SIGKILL' | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

/** Watches the child that runs one task, from the moment it says which it is. */
export interface ChildWatch {
  /** For tinypool: what the child sends beside its answer. */
  readonly channel: TinypoolChannel;
  /** Waits until the child is gone, then rejects with the reason. */
  died(cause: unknown): Promise<never>;
  /** The task has ended: nothing is watched any more. */
  release(): void;
}

/** Ends the child when it holds more than `limit` bytes of resident memory; hands on what it tells. */
export const watchChild = (limit: number, tell: (notice: WorkerNotice) => void): ChildWatch => {
  let pid: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let released = false;
  /** Bytes, once over the limit. */
  let over: number | undefined;

  const look = async (child: number) => {
    const resident = await residentBytes(child);
    // The task may have ended meanwhile, and the child be another's.
    if (released || resident <= limit) return;
    over = resident;
    signalled(child, 'SIGKILL');
  };
  const begin = (message: WorkerBegin) => {
    pid = message.pid;
    // The message of a child that was ended as it began comes after its end.
    if (!released) timer = setInterval(look, memoryInterval, pid);
  };
  const release = () => {
    released = true;
    clearInterval(timer);
  };
  const died = async (cause: unknown): Promise<never> => {
    release();
    if (pid !== undefined) await gone(pid);
    if (over === undefined) throw new ServiceError('NODE_CRASHED', undefined, { cause });
    const details = { limit: 'memory', max: limit, actual: over };
    throw new ServiceError('RESOURCE_EXHAUSTED', `The node needs more than ${limit} bytes of memory`, { details });
  };
  const receive = (message: WorkerMessage) => {
    if (message.type === 'begin') begin(message);
    else if (!released) tell(message);
  };
  return { channel: { postMessage: receive }, died, release };
};

/** 0 where there is no `/proc`, or no such process any more. */
const residentBytes = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  // In KiB, whatever the size of a page; `statm` counts pages.
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
};
