/** The servers that are compared: each start is a process of its own over an empty directory that goes with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../support/running-service.ts';

export interface Server {
  readonly pid: number;
  /** Where POST creates an upload. */
  readonly url: string;
  stop(): Promise<unknown>;
}

export type ServerName = 'floor' | 'full' | 'process';

const startFloor = async (directory: string): Promise<Server> => {
  const program = fileURLToPath(new URL('floor.ts', import.meta.url));
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [address] = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), exited]);
  return {
    pid: child.pid ?? 0,
    url: String(address).trim(),
    stop: () => {
      child.kill();
      return exited;
    },
  };
};

/** Sluice with its defaults. The log is off, as the floor writes none. */
const startSluice = async (directory: string, durability: string): Promise<Server> => {
  const service = await startService({ DATA_DIR: directory, DURABILITY: durability });
  return { pid: service.pid, url: `${service.url}/api/upload`, stop: () => service.stop() };
};

/** Runs `work` against a server whose directory is made below `parent`. */
export const withServer = async <T>(
  name: ServerName,
  parent: string,
  work: (server: Server) => Promise<T>,
): Promise<T> => {
  const directory = await mkdtemp(join(parent, 'sluice-bench-'));
  try {
    const server = await (name === 'floor' ? startFloor(directory) : startSluice(directory, name));
    return await work(server).finally(() => server.stop());
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
