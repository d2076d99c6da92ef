/**
 * The service as acceptance tests meet it: one process with everything embedded, or, where the environment says
 * TEST_REPLICAS=2, so many of them on one Redis and one directory, with nginx in front. The tests are the same.
 */
import t from 'tap';
import { findSurroundings, startReplicas } from './replicas.ts';
import { type RunningService, startService } from './running-service.ts';

/** How many there are; 1: one process, and nobody in front of it. */
const replicaCount = Number(process.env['TEST_REPLICAS'] ?? 1);

/** nginx is in front, which decides for itself what becomes of connections and answers some requests on its own. */
export const isProxied = replicaCount > 1;

export interface Deployment extends Pick<RunningService, 'url' | 'output' | 'stop'> {
  /** Of every process of the service. */
  readonly pids: readonly number[];
}

/** Resolves once it serves. Started again with the same `DATA_DIR`, it knows what it knew. */
export const startDeployment = async (
  env: Readonly<Record<string, string>> & { readonly DATA_DIR: string },
): Promise<Deployment> => {
  if (!isProxied) {
    const service = await startService(env);
    return { ...service, pids: [service.pid] };
  }
  // One Redis for all of a test file.
  surroundings ??= findSurroundings(t);
  const found = await surroundings;
  if (found === undefined) throw new Error('TEST_REPLICAS needs Redis and nginx');
  const replicas = await startReplicas(found, { count: replicaCount, env });
  return {
    url: replicas.url,
    pids: replicas.all.map(({ pid }) => pid),
    output: () => replicas.all.map(({ output }) => output()).join(''),
    stop: replicas.stop,
  };
};

let surroundings: ReturnType<typeof findSurroundings> | undefined;
