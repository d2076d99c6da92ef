/** Watches and bends the callback functions of `node:fs`, for drivers that look them up at each call. */
import fs from 'node:fs';
import type { Test } from 'tap';

/** The path that a descriptor of this process has open. */
const pathOf = (fd: number): string => fs.readlinkSync(`/proc/self/fd/${fd}`);

type Name = 'open' | 'writev' | 'fdatasync' | 'fsync' | 'ftruncate' | 'closeSync';

/** The calls from now on, as `name path`, in their order. */
export const recordCalls = (t: Test, names: readonly Name[]): string[] => {
  const calls: string[] = [];
  for (const name of names) {
    const original = fs[name] as (...args: unknown[]) => void;
    t.intercept(fs, name, {
      value: (...args: unknown[]) => {
        calls.push(`${name} ${typeof args[0] === 'number' ? pathOf(args[0]) : args[0]}`);
        original(...args);
      },
    });
  }
  return calls;
};

/** Holds up the calls from now on: each entry of the list is the way on for one of them. */
export const holdCalls = (t: Test, name: Name): (() => void)[] => {
  const held: (() => void)[] = [];
  const original = fs[name] as (...args: unknown[]) => void;
  t.intercept(fs, name, { value: (...args: unknown[]) => held.push(() => original(...args)) });
  return held;
};

/** What a system call fails with. */
export const systemError = (code: string): Error => Object.assign(new Error(code), { code });

/** Makes `fs.fdatasync` fail from now on; the list grows by one with each call. */
export const failSyncs = (t: Test, code: string): string[] => {
  const calls: string[] = [];
  t.intercept(fs, 'fdatasync', {
    value: (fd: number, done: (error: Error) => void) => {
      calls.push(pathOf(fd));
      setImmediate(done, systemError(code));
    },
  });
  return calls;
};
