/**
 * Debian's buildah without a daemon and without user namespaces: the storage driver that needs nothing of the kernel,
 * and commands of the build that share the network of this machine. It needs root.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** What an image says of itself; absent where the Dockerfile says nothing. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
  readonly StopSignal?: string;
  readonly Volumes?: Readonly<Record<string, unknown>>;
  readonly ExposedPorts?: Readonly<Record<string, unknown>>;
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

export interface BuildOptions {
  /** The directory that COPY takes from. */
  readonly context: string;
  /** A name of the form `localhost/name`, so that no registry is asked for it. */
  readonly tag: string;
  readonly args?: Readonly<Record<string, string>>;
}

export type Buildah = ReturnType<typeof createBuildah>;

/** `directory`: where images and containers are kept. */
export const createBuildah = (program: string, directory: string) => {
  const store = ['--root', join(directory, 'images'), '--runroot', join(directory, 'run'), '--storage-driver', 'vfs'];
  const run = (...args: string[]): string =>
    execFileSync(program, [...store, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  return {
    /** Builds the Dockerfile of the context. In the format of Docker: the other one has no health checks. */
    build({ context, tag, args = {} }: BuildOptions): void {
      const given = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
      run('build', '--isolation', 'chroot', '--format', 'docker', '--pull-never', ...given, '--tag', tag, context);
    },
    config(tag: string): ImageConfig {
      return JSON.parse(run('inspect', '--type', 'image', tag)).Docker.config;
    },
    /** Unpacks the image and gives the path of its root. */
    unpack(tag: string): string {
      return run('mount', run('from', '--pull-never', tag));
    },
  };
};
