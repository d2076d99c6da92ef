/** The servers that are compared: each start is a process of its own over an empty directory that goes with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../support/running-service.ts';
import { nativeRequests, type Requests, tusRequests } from './requests.ts';

export interface Server {
  readonly pid: number;
  /** Where POST creates an upload. */
  readonly url: string;
  readonly requests: Requests;
  stop(): Promise<unknown>;
}

/** Sluice, with that `DURABILITY`. */
export const sluiceNames = ['full', 'process'] as const;

export const serverNames = ['floor', 'tus', ...sluiceNames] as const;
export type ServerName = (typeof serverNames)[number];

/** A program of this folder that takes its directory, and settings from the environment, and prints its address. */
export const startProgram = async (
  file: string,
  directory: string,
  protocol: (url: URL) => Requests,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> => {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [program, directory], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [address] = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), exited]);
  const url = String(address).trim();
  return {
    pid: child.pid ?? 0,
    url,
    requests: protocol(new URL(url)),
    stop: () => {
      child.kill();
      return exited;
    },
  };
};

/** Sluice with its defaults but for these settings. The log is off, as the floor writes none. */
export const startSluice = async (env: Readonly<Record<string, string>>): Promise<Server> => {
  const service = await startService(env);
  const url = `${service.url}/api/upload`;
  return { pid: service.pid, url, requests: nativeRequests(new URL(url)), stop: () => service.stop() };
};

const start = (name: ServerName, directory: string): Promise<Server> => {
  if (name === 'floor') return startProgram('floor.ts', directory, nativeRequests);
  if (name === 'tus') return startProgram('tus-server.ts', directory, tusRequests);
  return startSluice({ DATA_DIR: directory, DURABILITY: name });
};

/** Runs `work` with a directory that is made below `parent` and removed when it is done. */
export const withDirectory = async <T>(parent: string, work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await mkdtemp(join(parent, 'sluice-bench-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/** Runs `work` against a server whose directory is made below `parent`. */
export const withServer = <T>(name: ServerName, parent: string, work: (server: Server) => Promise<T>): Promise<T> =>
  withDirectory(parent, async (directory) => {
    const server = await start(name, directory);
    return work(server).finally(() => server.stop());
  });
