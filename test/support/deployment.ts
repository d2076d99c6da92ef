/**
 * The service as acceptance tests meet it: one process with everything embedded, or, where the environment says
 * TEST_REPLICAS=2, so many of them on one Redis and one directory, with nginx in front, or, where it says
 * TEST_REPLICAS=compose, what the compose file starts. With TEST_S3=1 the files of the others are in S3. The tests are the
 * same.
 */
import t from 'tap';
import { startStack } from '../compose/stack.ts';
import { s3Server } from '../services/s3.ts';
import { findSurroundings, nameFor, startReplicas } from './replicas.ts';
import { type RunningService, startService } from './running-service.ts';
import { s3Settings } from './s3-settings.ts';

/** How many there are, or `compose`; 1: one process, and nobody in front of it. */
const replicaCount = process.env['TEST_REPLICAS'] ?? '1';

/** nginx is in front, which decides for itself what becomes of connections and answers some requests on its own. */
export const isProxied = replicaCount !== '1';

/** What records say of where files are. */
export const storageType = replicaCount === 'compose' || process.env['TEST_S3'] === '1' ? 's3' : 'local';

export interface Deployment extends Pick<RunningService, 'url' | 'output' | 'stop'> {
  /** Of every process of the service. */
  readonly pids: readonly number[];
}

type Env = Readonly<Record<string, string>> & { readonly DATA_DIR: string };

/** Resolves once it serves. Started again with the same `DATA_DIR`, it knows what it knew. */
export const startDeployment = async (given: Env): Promise<Deployment> => {
  if (replicaCount === 'compose') return startCompose(given);
  const env = { ...(storageType === 's3' ? await inS3(given) : {}), ...given };
  if (!isProxied) {
    const service = await startService(env);
    return { ...service, pids: [service.pid] };
  }
  // One Redis for all of a test file.
  surroundings ??= findSurroundings(t);
  const found = await surroundings;
  if (found === undefined) throw new Error('TEST_REPLICAS needs Redis and nginx');
  const replicas = await startReplicas(found, { count: Number(replicaCount), env });
  return {
    url: replicas.url,
    pids: replicas.all.map(({ pid }) => pid),
    output: () => replicas.all.map(({ output }) => output()).join(''),
    stop: replicas.stop,
  };
};

const startCompose = async (env: Env): Promise<Deployment> => {
  const stack = await startStack(env.DATA_DIR, { LOG_LEVEL: 'warn', ...env });
  if (stack === undefined) throw new Error('TEST_REPLICAS=compose needs Redis, nginx, an S3 server, curl and wget');
  const replicas = stack.containers.filter(({ service }) => service === 'sluice');
  return {
    url: stack.url,
    pids: replicas.map(({ pid }) => pid()),
    output: () => replicas.map(({ output }) => output()).join(''),
    async stop(signal = 'SIGTERM') {
      const codes = await Promise.all(replicas.map((replica) => replica.stop(signal)));
      await stack.stop();
      return codes.find((code) => code !== 0) ?? 0;
    },
  };
};

const inS3 = async ({ DATA_DIR }: Env) => {
  const server = await s3Server();
  if (server === undefined) throw new Error('TEST_S3 needs an S3 server');
  return { ...s3Settings(server), S3_PREFIX: nameFor(DATA_DIR) };
};

let surroundings: ReturnType<typeof findSurroundings> | undefined;
