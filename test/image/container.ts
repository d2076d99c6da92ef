/**
 * Runs an unpacked image as a container runtime would: its root read-only, a fresh /tmp, one volume at /data, processes
 * of its own that it sees as 1, 2, 3, and the user and the environment that the image names. The network is shared.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readFile } from 'node:fs/promises';
import { until } from '../support/wait.ts';
import type { ImageConfig } from './buildah.ts';

/** $1: the root, $2: the directory of the volume, $3: user, $4: working directory; then environment and command. */
const enter = `
root=$1 data=$2 user=$3 work=$4
shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
mount -o remount,ro,bind "$root"
exec chroot --userspec="$user" "$root" env -i -C "$work" "$@"
`;

export interface Container {
  /** The first process, as this machine numbers it. */
  readonly pid: number;
  /** Everything that was printed so far. */
  output(): string;
  /** Runs a command beside it, as `docker exec` does, and gives its exit code and what it printed. */
  exec(command: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>;
  /** Sends the stop signal of the image and gives the exit code. */
  stop(): Promise<number | null>;
}

export interface ContainerOptions {
  readonly root: string;
  readonly config: ImageConfig;
  /** The directory of the volume; made, and given to the user. */
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the command of the image. */
export const runContainer = async ({ root, config, data, env }: ContainerOptions): Promise<Container> => {
  const { User: user = '0:0', WorkingDir: work = '/', Cmd: command = [], StopSignal: signal = 'SIGTERM' } = config;
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  const environment = [...(config.Env ?? []), ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  await mkdir(data, { recursive: true });
  await chown(data, uid, gid);
  const isolate = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', enter, 'sh'];
  const child = spawn('unshare', [...isolate, root, data, user, work, ...environment, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const exited = once(child, 'exit');
  const pid = await firstChild(child.pid ?? 0, () => child.exitCode === null, output);
  return {
    pid,
    output,
    async exec(extra) {
      const into = ['--target', String(pid), '--mount', '--pid', '--root', '--setuid', `${uid}`, '--setgid', `${gid}`];
      const beside = spawn('nsenter', [...into, 'env', '-i', '-C', work, ...environment, ...extra]);
      const said = collect(beside);
      await once(beside, 'close');
      return { code: beside.exitCode, output: said() };
    },
    async stop() {
      if (child.exitCode === null) process.kill(pid, signal as NodeJS.Signals);
      await exited;
      return child.exitCode;
    },
  };
};

const collect = (child: ReturnType<typeof spawn>): (() => string) => {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  }
  return () => text;
};

/** The process that `unshare` has made, once it runs the command. */
const firstChild = async (parent: number, lives: () => boolean, output: () => string): Promise<number> => {
  let pid = 0;
  await until(async () => {
    if (!lives()) throw new Error(`the container did not start:\n${output()}`);
    pid = Number((await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')).trim());
    return pid > 0;
  });
  return pid;
};
