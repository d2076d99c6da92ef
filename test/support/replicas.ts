/** Several replicas of the service on one Redis and one directory of data, and an nginx that hands requests out in turn. */
import { createHash } from 'node:crypto';
import { findNginx, startNginx } from '../services/nginx.ts';
import { freePort } from '../services/port.ts';
import { getRedis } from '../services/redis.ts';
import { type RunningService, startService } from './running-service.ts';
import type { Owner } from './temporary.ts';

/** What replicas need beside themselves. */
export interface Surroundings {
  /** The address of a Redis. */
  readonly redis: string;
  /** The path of the program. */
  readonly nginx: string;
}

/** Ends with the owner. `undefined` where the environment says TEST_SERVICES=embedded and one of them is missing. */
export const findSurroundings = async (t: Owner): Promise<Surroundings | undefined> => {
  const nginx = findNginx();
  const redis = nginx === undefined ? undefined : await getRedis();
  if (nginx === undefined || redis === undefined) return undefined;
  t.teardown(redis.stop);
  return { redis: redis.url, nginx };
};

/** Settings of all replicas, and of one. What `DATA_DIR` holds belongs to names in Redis that are made of its path. */
export interface Settings {
  readonly env: Readonly<Record<string, string>> & { readonly DATA_DIR: string };
  readonly own?: (index: number) => Readonly<Record<string, string>>;
}

/** A name for what belongs to a directory of data. */
export const nameFor = (data: string): string => `test-${createHash('sha256').update(data).digest('hex').slice(0, 16)}`;

/** The settings of one of several replicas that share a directory. */
export const replicaEnv = (redis: string, { env, own = () => ({}) }: Settings, index: number) => ({
  REDIS_URL: redis,
  REDIS_KEY_PREFIX: nameFor(env.DATA_DIR),
  DATA_DIR_SHARED: 'on',
  ...env,
  ...own(index),
});

export interface Replicas {
  /** Where nginx serves them all, such as `http://127.0.0.1:40123/sluice`. */
  readonly url: string;
  /** Each keeps its place and its address when it is started again. */
  readonly all: readonly RunningService[];
  /** Starts one anew whose process is gone. */
  restart(index: number): Promise<void>;
  /** Ends the replicas, then nginx; the exit code of the first that had one other than 0. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Resolves once all of them serve. */
export const startReplicas = async (
  { redis, nginx }: Surroundings,
  { count, ...settings }: Settings & { readonly count: number },
): Promise<Replicas> => {
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const start = (port: number, index: number) =>
    startService({ ...replicaEnv(redis, settings, index), PORT: String(port) });
  const all = await Promise.all(ports.map(start));
  const proxy = await startNginx(
    nginx,
    all.map(({ url }) => url),
  );
  return {
    url: `${proxy.url}${new URL(all[0]?.url ?? '').pathname.replace(/\/$/, '')}`,
    all,
    async restart(index) {
      all[index] = await start(ports[index] ?? 0, index);
    },
    async stop(signal = 'SIGTERM') {
      const codes = await Promise.all(all.map((replica) => replica.stop(signal)));
      await proxy.stop();
      return codes.find((code) => code !== 0) ?? 0;
    },
  };
};
