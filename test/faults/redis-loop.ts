/**
 * Two replicas whose Redis is killed, falls silent, cuts its connections or drops their subscriptions, under load and
 * again and again: clients get the documented answers meanwhile, lose nothing, and are served again at once.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type RedisProcess, startRedis } from '../services/redis.ts';
import { call } from '../support/api.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';
import { smallFlow } from './load.ts';
import { type Outage, type OutageResult, playOutages, requireRefusal, requireUnready } from './outages.ts';
import { type FaultProxy, startFaultProxy } from './proxy.ts';
import { Wrong } from './transfer.ts';

export interface RedisLoopOptions {
  readonly rounds: number;
  readonly seed: number;
  /** The paths of the programs. */
  readonly redis: string;
  readonly nginx: string;
}

/** So long a request may hang that needs Redis, milliseconds. */
const answerMs = 3000;

interface Rig {
  readonly replicas: Replicas;
  readonly proxy: FaultProxy;
  server: RedisProcess;
  /** Where its append-only file is. */
  readonly directory: string;
  readonly program: string;
}

/** Rejects when anything is not as it must be. What it starts ends with `owner`. */
export const runRedisLoop = async (owner: Owner, options: RedisLoopOptions): Promise<OutageResult> => {
  const rig = await openRig(owner, options);
  const outages = [kill(rig), byNetwork(rig, 'silence'), byNetwork(rig, 'rst'), drop(rig)];
  return playOutages(rig.replicas, { ...options, outages });
};

const openRig = async (owner: Owner, { redis: program, nginx }: RedisLoopOptions): Promise<Rig> => {
  const [data, flows] = [await temporaryDirectory(owner), await temporaryDirectory(owner)];
  await writeFile(join(flows, 'small.json'), JSON.stringify(smallFlow));
  const directory = await temporaryDirectory(owner);
  const server = await startRedis(program, { directory });
  const proxy = await startFaultProxy(owner, server.url);
  const env = { DATA_DIR: data, FLOWS_DIR: flows, WORKERS: '1' };
  const replicas = await startReplicas({ redis: proxy.url, nginx }, { count: 2, env });
  const rig: Rig = { replicas, proxy, server, directory, program };
  owner.teardown(async () => {
    await replicas.stop('SIGKILL');
    await rig.server.stop();
  });
  return rig;
};

const kill = (rig: Rig): Outage => ({
  during: requireRefusals,
  async begin() {
    const { port } = rig.server;
    await rig.server.stop();
    return async () => {
      rig.server = await startRedis(rig.program, { port, directory: rig.directory });
    };
  },
});

const byNetwork = ({ proxy }: Rig, by: 'rst' | 'silence'): Outage => ({
  during: requireRefusals,
  async begin() {
    proxy.set({ after: 0, by });
    return async () => proxy.set({});
  },
});

/** Only the connections over which replicas hear of each other: nothing is refused, and nothing may be missed. */
const drop = (rig: Rig): Outage => ({
  async begin() {
    const client = new Redis(rig.server.url);
    const dropped = await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    client.disconnect();
    if (Number(dropped) === 0) throw new Wrong('nobody was dropped');
    return async () => {};
  },
});

/** While Redis is away: alive, not ready, and whatever needs Redis is refused for now, before long. */
const requireRefusals = async (url: string): Promise<void> => {
  const { post, head, patch, remove } = uploadClient(url);
  const id = '0'.repeat(32);
  const asked: Readonly<Record<string, () => Promise<{ status: number; headers: Headers }>>> = {
    POST: () => post({ size: 5 }),
    HEAD: () => head(id),
    PATCH: () => patch(id, 'hello', { offset: 0 }),
    DELETE: () => remove(id),
    'GET file': () => fetch(`${url}/api/files/${id}`),
    'POST flow': () => call(url, 'POST', '/api/flow/small/default', {}),
    'GET job': () => call(url, 'GET', `/api/jobs/${id}/status`),
    cancel: () => call(url, 'POST', `/api/jobs/${id}/cancel`),
  };
  await Promise.all(Object.entries(asked).map(([what, ask]) => requireRefusal(what, answerMs, ask)));
  await requireUnready(url);
};
