/** A Redis to test against: the one that REDIS_URL names, else one of this test's own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../support/wait.ts';
import { findOrInstall, onPath } from './debian.ts';
import { freePort } from './port.ts';

export interface RedisService {
  readonly url: string;
  /** Takes away what begins with the prefix, or ends the server when it is the test's own. */
  stop(): Promise<void>;
}

/** The server's program, Redis or Valkey; see `findProgram`. */
export const findRedis = (): string | undefined =>
  findOrInstall('redis-server', () => onPath('redis-server')[0] ?? onPath('valkey-server')[0]);

const isUp = async (url: string): Promise<boolean> => {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, connectTimeout: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
};

export interface RedisProcess extends RedisService {
  readonly port: number;
  readonly process: ChildProcess;
}

/** Starts a server on a free port of the loopback interface, with an append-only file in a directory of its own. */
export const startRedis = async (
  program: string,
  { port, directory, options = [] }: { port?: number; directory?: string; options?: readonly string[] } = {},
): Promise<RedisProcess> => {
  const chosen = port ?? (await freePort());
  const home = directory ?? (await mkdtemp(join(tmpdir(), 'sluice-redis-')));
  const settings = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(chosen),
    '--dir',
    home,
    '--save',
    '',
    '--appendonly',
    'yes',
  ];
  const child = spawn(program, [...settings, ...options], { stdio: 'ignore' });
  // A test that dies must not leave the server behind.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `redis://127.0.0.1:${chosen}`;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${program} has ended with ${child.exitCode}`);
    return isUp(url);
  });
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (child.exitCode === null && child.signalCode === null) {
      kill();
      await once(child, 'exit');
    }
    if (directory === undefined) await rm(home, { recursive: true, force: true });
  };
  return { url, port: chosen, process: child, stop };
};

/** `undefined` where the environment says TEST_SERVICES=embedded and there is no Redis. Tests use prefixes of their own. */
export const getRedis = async (): Promise<RedisService | undefined> => {
  const url = process.env['REDIS_URL'];
  if (url !== undefined && url !== '') return { url, stop: async () => {} };
  const program = findRedis();
  return program === undefined ? undefined : startRedis(program);
};
