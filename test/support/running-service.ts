/** The service as its users run it: a process of its own, known only by its address. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface RunningService {
  /** Such as `http://127.0.0.1:40123/sluice`. */
  readonly url: string;
  readonly pid: number;
  /** Everything that it has printed so far. */
  output(): string;
  /** Sends the signal and resolves with the exit code once the process is gone (`null`: ended by the signal). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const start = (env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'] ?? '', HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
};

/** Starts the service and resolves once it has printed its address; rejects with its output when it exits before. */
export const startService = async (env: Readonly<Record<string, string>>): Promise<RunningService> => {
  const { child, output } = start(env);
  const exited = once(child, 'exit');
  const url = await Promise.race([addressFrom(child, output), exited.then(() => undefined)]);
  if (url === undefined) throw new Error(`the service did not start:\n${output()}`);
  return {
    url,
    pid: child.pid ?? 0,
    output,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
};

/** Runs the service until it exits by itself: for starts that must fail. */
export const runToExit = async (env: Readonly<Record<string, string>>) => {
  const { child, output } = start(env);
  await once(child, 'close');
  return { code: child.exitCode, output: output() };
};

const addressFrom = (child: ChildProcess, output: () => string): Promise<string> =>
  new Promise((resolve) => {
    child.stdout?.on('data', () => {
      const match = /^Sluice \S+ on (http:\S+)/m.exec(output());
      if (match?.[1] !== undefined) resolve(match[1].replace('localhost', '127.0.0.1').replace(/\/$/, ''));
    });
  });
