/**
 * Contestants that are programs of their own: they get ready for so many pieces of work, say so, and do them when told.
 * `startProgram` is the side of the bench, `serve` that of the program.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What is measured: everything between `go` and its end. */
export interface Contestant {
  /** Its processor time and that of its children counts. */
  readonly pid: number;
  /** Gets ready for so many pieces of work. */
  prepare(count: number): Promise<unknown>;
  /** Does them. Resolves with the seconds that it has taken. */
  go(): Promise<number>;
  stop(): Promise<unknown>;
}

/** Starts a program of this folder. */
export const startProgram = async (file: string, ...args: readonly string[]): Promise<Contestant> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: [] });
  const exited = once(child, 'exit');
  const lost = exited.then(([code]) => Promise.reject(new Error(`${file} has ended with ${code}`)));
  lost.catch(() => {});
  const ask = async (message?: number | 'go'): Promise<number> => {
    const answer = once(child, 'message');
    if (message !== undefined) child.send(message);
    const [value] = await Promise.race([answer, lost]);
    return Number(value);
  };
  await ask();
  return {
    pid: child.pid ?? 0,
    prepare: (count) => ask(count),
    go: () => ask('go'),
    stop: () => {
      child.disconnect();
      return exited;
    },
  };
};

interface Program {
  /** Gets ready for so many pieces of work; does them when the function that it gives is called. */
  prepare(count: number): Promise<() => Promise<unknown>>;
  close(): Promise<unknown>;
}

/** Answers the bench until it lets go. */
export const serve = ({ prepare, close }: Program): void => {
  let work: (() => Promise<unknown>) | undefined;
  const answer = async (message: number | 'go'): Promise<number> => {
    if (message === 'go') return timed(async () => work?.());
    work = await prepare(message);
    return 0;
  };
  process.on('message', (message: number | 'go') => {
    // What goes wrong ends the program, and so the bench.
    void answer(message).then((seconds) => process.send?.(seconds));
  });
  process.on('disconnect', () => void close().then(() => process.exit()));
  process.send?.(0);
};

/** Seconds. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};
