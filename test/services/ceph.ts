/**
 * Ceph's object gateway from Debian's packages: a real S3 server of one monitor, one object store in memory and the
 * gateway, all on loopback and below one temporary directory. No manager daemon, no authentication between the parts.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../support/wait.ts';
import { findOrInstall, onPath } from './debian.ts';

const run = promisify(execFile);

/** The packages that have the programs below; 70 MB to download. */
const packages = ['ceph-mon', 'ceph-osd', 'radosgw', 'ceph-common'];
const programs = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'ceph', 'monmaptool'];

/** Milliseconds for one step of the start. */
const patience = 60_000;

export const keys = { accessKeyId: 'sluice-test-key', secretAccessKey: 'sluice-test-secret' };

/** Whether the gateway can be started here, after an installation if need be; see `findOrInstall`. */
export const findCeph = (): boolean =>
  findOrInstall(packages.join(' '), () => (programs.every((name) => onPath(name)[0]) ? 'ceph' : undefined)) !==
  undefined;

export interface Ceph {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts it, which takes two seconds. */
export const startCeph = async (): Promise<Ceph> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-ceph-'));
  const [monitorPort, port] = await freePorts();
  const cluster = { directory, fsid: randomUUID(), monitorPort, port };
  const daemons = createDaemons(directory);
  const stop = async () => {
    await daemons.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await writeFile(join(directory, 'ceph.conf'), configuration(cluster));
    await startStore(cluster, daemons);
    await inCluster(cluster, 'radosgw-admin', userArguments);
    const gateway = daemons.start('radosgw', ['-n', 'client.rgw']);
    const endpoint = `http://127.0.0.1:${port}`;
    await until(() => gateway.alive() && answers(endpoint), patience);
    return { endpoint, stop };
  } catch (error) {
    const told = await daemons.told();
    await stop();
    throw new Error(`Ceph's gateway did not start:\n${told}`, { cause: error });
  }
};

interface Cluster {
  readonly directory: string;
  readonly fsid: string;
  readonly monitorPort: number;
  readonly port: number;
}

const userArguments = [
  ...['user', 'create', '--uid=test', '--display-name=test'],
  ...[`--access-key=${keys.accessKeyId}`, `--secret-key=${keys.secretAccessKey}`],
];

/**
 * Paths are absolute throughout: nothing is read from or written to the places of a system's own Ceph. The monitor does
 * not wait for more to come before it decides (`paxos`): by default that is a second for each pool that is made.
 */
const configuration = ({ directory, fsid, monitorPort, port }: Cluster): string => `[global]
fsid = ${fsid}
mon host = v1:127.0.0.1:${monitorPort}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
keyring = ${directory}/keyring
run dir = ${directory}
crash dir = ${directory}
admin socket = ${directory}/$type.$id.asok
pid file =
log file = ${directory}/$type.$id.log
mon data = ${directory}/mon
mon initial members = a
paxos propose interval = 0.02
paxos min wait = 0.01
mon allow pool size one = true
mon max pg per osd = 1000
osd data = ${directory}/osd
osd objectstore = memstore
memstore device bytes = 17179869184
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd crush chooseleaf type = 0
osd class update on start = false
osd crush update on start = false
rgw data = ${directory}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
rgw override bucket index max shards = 1
rgw run sync thread = false
rgw thread pool size = 64
`;

/** The monitor, then the object store, which counts as up when the monitor says so. */
const startStore = async (cluster: Cluster, daemons: Daemons): Promise<void> => {
  const { directory, fsid, monitorPort } = cluster;
  const map = join(directory, 'monmap');
  await run('monmaptool', ['--create', '--addv', 'a', `[v1:127.0.0.1:${monitorPort}]`, '--fsid', fsid, map]);
  await inCluster(cluster, 'ceph-mon', ['-i', 'a', '--mkfs', '--monmap', map]);
  const monitor = daemons.start('ceph-mon', ['-i', 'a']);
  const uuid = randomUUID();
  // The first answer may be EPERM, "wrong fsid".
  await until(() => monitor.alive() && succeeds(inCluster(cluster, 'ceph', ['osd', 'new', uuid])), patience);
  await mkdir(join(directory, 'osd'));
  await inCluster(cluster, 'ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', uuid]);
  const store = daemons.start('ceph-osd', ['-i', '0']);
  await inCluster(cluster, 'ceph', ['osd', 'crush', 'add', 'osd.0', '1', 'root=default']);
  await until(
    async () => store.alive() && (await inCluster(cluster, 'ceph', ['osd', 'stat'])).includes('1 up'),
    patience,
  );
};

const inCluster = async ({ directory }: Cluster, program: string, args: readonly string[]): Promise<string> =>
  (await run(program, ['-c', join(directory, 'ceph.conf'), ...args], { timeout: patience })).stdout;

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

const answers = (url: string): Promise<boolean> => succeeds(fetch(url, { signal: AbortSignal.timeout(2000) }));

interface Daemon {
  /** Throws when it has ended: waiting on would be in vain. */
  alive(): boolean;
}

type Daemons = ReturnType<typeof createDaemons>;

/** The processes of a cluster; what they say is in files of its directory. */
const createDaemons = (directory: string) => {
  const children: { readonly child: ChildProcess; readonly log: string }[] = [];
  return {
    start(program: string, args: readonly string[]): Daemon {
      const log = join(directory, `${program}.out`);
      const output = openSync(log, 'w');
      const config = join(directory, 'ceph.conf');
      // They go with this process, however it ends.
      const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, '-c', config, '-f', ...args], {
        stdio: ['ignore', output, output],
      });
      // They keep no test from its end.
      child.unref();
      children.push({ child, log });
      return {
        alive() {
          if (child.exitCode === null && child.signalCode === null) return true;
          throw new Error(`${program} has ended`);
        },
      };
    },
    told: async () => (await Promise.all(children.map(({ log }) => readFile(log, 'utf8')))).join(''),
    /** By SIGKILL: all that they have is in memory. */
    async stop() {
      await Promise.all(
        children.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.ref();
          child.kill('SIGKILL');
          await ended;
        }),
      );
    },
  };
};

/** Two ports that nobody listens on. */
const freePorts = async (): Promise<[number, number]> => {
  const servers = [createServer(), createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) server.close();
  return ports as [number, number];
};
