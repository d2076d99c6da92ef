/** One container of the compose file as a process of this machine. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessPlan {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** All of it: of this process's own environment nothing is handed on but PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface Running {
  /** Another one once it was started again; 0: not told. */
  pid(): number;
  /** Everything that it has printed so far. */
  output(): string;
  /** Sends the signal, SIGTERM by default, and resolves with the exit code (`null`: ended by the signal). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Milliseconds until it is started again, as Docker does. */
const pause = 100;

const environment = (env: Readonly<Record<string, string>>) => ({ PATH: process.env['PATH'] ?? '', ...env });

/** Starts it, and starts it again when it ends by itself: `restart: unless-stopped`. */
export const startProcess = ({ words: [program = '', ...args], env, cwd }: ProcessPlan): Running => {
  let output = '';
  let stopping = false;
  const begin = (): ChildProcess => {
    const child = spawn(program, args, { env: environment(env), cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    return child;
  };
  let child = begin();
  const ended = (async () => {
    for (;;) {
      await once(child, 'exit');
      if (stopping) return child.exitCode;
      await delay(pause);
      if (stopping) return child.exitCode;
      child = begin();
    }
  })();
  // A test that dies must not leave it behind.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  return {
    pid: () => child.pid ?? 0,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      stopping = true;
      process.off('exit', kill);
      child.kill(signal);
      return ended;
    },
  };
};

/** Runs it to its end and says whether that was with code 0, as a health check does. */
export const succeeds = ({ words: [program = '', ...args], env, cwd }: ProcessPlan): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(program, args, { env: environment(env), cwd, timeout: 10_000 }, (error) => resolve(error === null));
  });
