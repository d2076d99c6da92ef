/** What a server has cost the machine: processor time and memory, as Linux counts them. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of `/proc/<pid>/stat`; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process is gone.
    return '';
  }
};

const childrenOf = (pid: number): readonly number[] =>
  read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

const ticksOf = (pid: number): number => {
  // The name of the program, in brackets, may contain anything; user and system time are fields 14 and 15.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
};

/** Seconds of processor time, user and system, of each child so far. */
export const childSeconds = (pid: number): readonly number[] =>
  childrenOf(pid).map((child) => ticksOf(child) / ticksPerSecond);

/** Seconds of processor time, user and system, of the process and its children so far. */
export const cpuSeconds = (pid: number): number =>
  childSeconds(pid).reduce((sum, seconds) => sum + seconds, ticksOf(pid) / ticksPerSecond);

const mebibytes = (pid: number, field: 'VmHWM' | 'VmRSS'): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

/** The most memory that the process itself has held at once, MiB. */
export const peakMemory = (pid: number): number => mebibytes(pid, 'VmHWM');

/** The memory that the process itself holds now, MiB. */
export const residentMemory = (pid: number): number => mebibytes(pid, 'VmRSS');

/** Resolves once the process and its children have started and have nothing to do any more, or after five seconds. */
export const idle = async (pid: number): Promise<void> => {
  const end = performance.now() + 5000;
  for (let before = -1, now = cpuSeconds(pid); now !== before && performance.now() < end; now = cpuSeconds(pid)) {
    before = now;
    await sleep(250);
  }
};
