/** A master, three replicas, and a sentinel that watches them: what two failovers in a row need. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { freePort } from './port.ts';
import { type RedisProcess, startRedis } from './redis.ts';

export interface Watched {
  /** The master first. */
  readonly nodes: readonly RedisProcess[];
  readonly sentinel: { readonly host: string; readonly port: number };
  /** What the sentinel asks of those who ask it. */
  readonly password: string;
  /** The port of the master, as the sentinel knows it. */
  masterPort(): Promise<number>;
  /** Has a replica promoted although the master is well. */
  failOver(): Promise<void>;
}

const password = 'for sentinels';

/** A replica that asks for a copy gets it at once; a master that all have left takes no writes. */
const options = ['--repl-diskless-sync-delay', '0', '--min-replicas-to-write', '1'];

/** Starts them, and waits until the sentinel knows of all; they end with the test. The master is called `mymaster`. */
export const startWatched = async (t: Owner, program: string): Promise<Watched> => {
  const master = await startRedis(program, { options });
  t.teardown(master.stop);
  const replicaof = ['--replicaof', '127.0.0.1', String(master.port)];
  const replicas = await Promise.all([1, 2, 3].map(() => startRedis(program, { options: [...options, ...replicaof] })));
  for (const { stop } of replicas) t.teardown(stop);
  const direct = new Redis(master.url);
  await until(async () => /slave2:.*state=online/.test(await direct.info('replication')));
  direct.disconnect();

  const port = await startSentinel(t, program, master.port);
  const client = new Redis({ port, host: '127.0.0.1', password });
  // Until it listens.
  client.on('error', () => {});
  t.teardown(async () => client.disconnect());
  const ask = (...args: string[]): Promise<unknown> => client.call('SENTINEL', ...args);
  await until(async () => ((await ask('REPLICAS', 'mymaster')) as unknown[]).length === 3);
  return {
    nodes: [master, ...replicas],
    sentinel: { host: '127.0.0.1', port },
    password,
    masterPort: async () => Number(((await ask('GET-MASTER-ADDR-BY-NAME', 'mymaster')) as string[])[1]),
    failOver: async () => {
      await ask('FAILOVER', 'mymaster');
    },
  };
};

const startSentinel = async (t: Owner, program: string, master: number): Promise<number> => {
  const directory = await temporaryDirectory(t);
  const port = await freePort();
  const path = join(directory, 'sentinel.conf');
  // Milliseconds. A master is given up after half a second, and another failover may begin after two.
  await writeFile(
    path,
    `bind 127.0.0.1
port ${port}
dir ${directory}
requirepass "${password}"
sentinel monitor mymaster 127.0.0.1 ${master} 1
sentinel down-after-milliseconds mymaster 500
sentinel failover-timeout mymaster 1000
sentinel parallel-syncs mymaster 3
`,
  );
  const child = spawn(program, [path, '--sentinel'], { stdio: 'ignore' });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  t.teardown(async () => {
    process.off('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    kill();
    await once(child, 'exit');
  });
  return port;
};
