/** The command `sluice` as people run it: a process that is known by what it prints and how it ends. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts it; `ran` resolves once it has ended. */
export const startSluice = (args: readonly string[], { cwd, env = {} }: RunOptions = {}) => {
  const child = spawn(process.execPath, [program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const ran = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, ...said }));
  });
  return { child, said, ran };
};

/** Runs it to its end. */
export const sluice = (args: readonly string[], options?: RunOptions): Promise<Ran> => startSluice(args, options).ran;
