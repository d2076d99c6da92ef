/**
 * Two replicas whose Redis is killed, falls silent, cuts its connections or drops their subscriptions, under load and
 * again and again: clients get the documented answers meanwhile, lose nothing, and are served again at once.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type RedisProcess, startRedis } from '../services/redis.ts';
import { call } from '../support/api.ts';
import { dice } from '../support/random.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { requireCalm } from './calm.ts';
import { type LoadResult, smallFlow, startLoad } from './load.ts';
import { type FaultProxy, startFaultProxy } from './proxy.ts';
import { findStoryProblem } from './story.ts';
import { Wrong } from './transfer.ts';

export interface RedisLoopOptions {
  readonly rounds: number;
  readonly seed: number;
  /** The paths of the programs. */
  readonly redis: string;
  readonly nginx: string;
}

export interface RedisLoopResult extends LoadResult {
  /** The longest time from the end of a fault until all replicas served again, milliseconds. */
  readonly recovery: number;
}

/** So long after Redis is back everything is served again, milliseconds. */
const recoveryMs = 5000;
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

/** What begins a fault; what it gives ends the fault. */
type Fault = (rig: Rig) => Promise<() => Promise<void>>;

const byNetwork =
  (by: 'rst' | 'silence'): Fault =>
  async ({ proxy }) => {
    proxy.set({ after: 0, by });
    return async () => proxy.set({});
  };

const kill: Fault = async (rig) => {
  const { port } = rig.server;
  await rig.server.stop();
  return async () => {
    rig.server = await startRedis(rig.program, { port, directory: rig.directory });
  };
};

/** By turns. */
const outages: readonly Fault[] = [kill, byNetwork('silence'), byNetwork('rst')];

/** Rejects when anything is not as it must be. What it starts ends with `owner`. */
export const runRedisLoop = async (owner: Owner, options: RedisLoopOptions): Promise<RedisLoopResult> => {
  const { rounds, seed } = options;
  const rig = await openRig(owner, options);
  const random = dice(seed);
  const urls = rig.replicas.all.map(({ url }) => url);
  const load = await startLoad(urls, seed);
  let recovery = 0;
  const play = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await sleep(500 * random());
      const begin = outages[round % outages.length] ?? kill;
      const end = await begin(rig);
      await Promise.all(urls.map(requireRefusals));
      await sleep(1000 * random());
      await end();
      const since = performance.now();
      await Promise.all(urls.map((url) => until(() => isServed(url), 4 * recoveryMs)));
      recovery = Math.max(recovery, performance.now() - since);
      if (recovery > recoveryMs) throw new Wrong(`served again ${recovery} ms after fault ${round}`);
      await dropSubscribers(rig.server.url);
    }
  };
  await Promise.race([play(), load.failed]);
  const result = await load.finish();
  for (const id of result.completed) {
    const problem = await findStoryProblem(urls[0] ?? '', id);
    if (problem !== undefined) throw new Wrong(`the log of ${id}: ${problem}`);
  }
  requireCalm(rig.replicas);
  return { ...result, recovery };
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

/** While Redis is away: alive, not ready, and whatever needs Redis is refused for now, before long. */
const requireRefusals = async (url: string): Promise<void> => {
  const refused = async (what: string, ask: () => Promise<{ status: number; headers: Headers }>): Promise<void> => {
    const begin = performance.now();
    const { status, headers } = await ask();
    const ms = Math.round(performance.now() - begin);
    if (status !== 503 || Number(headers.get('retry-after')) < 1) throw new Wrong(`${what} answers ${status}`);
    if (ms > answerMs) throw new Wrong(`${what} is answered after ${ms} ms`);
  };
  const { post, head, patch, remove } = uploadClient(url);
  const id = '0'.repeat(32);
  await Promise.all([
    refused('POST', () => post({ size: 5 })),
    refused('HEAD', () => head(id)),
    refused('PATCH', () => patch(id, 'hello', { offset: 0 })),
    refused('DELETE', () => remove(id)),
    refused('GET file', () => fetch(`${url}/api/files/${id}`)),
    refused('POST flow', () => call(url, 'POST', '/api/flow/small/default', {})),
    refused('GET job', () => call(url, 'GET', `/api/jobs/${id}/status`)),
    refused('cancel', () => call(url, 'POST', `/api/jobs/${id}/cancel`)),
    until(async () => (await fetch(`${url}/api/ready`)).status === 503),
  ]);
  const { status } = await fetch(`${url}/api/health`);
  if (status !== 200) throw new Wrong(`health answers ${status}`);
};

/** It is ready, and an upload goes in and out. */
const isServed = async (url: string): Promise<boolean> => {
  if ((await fetch(`${url}/api/ready`)).status !== 200) return false;
  const uploads = uploadClient(url);
  const created = await uploads.post({ size: 5 });
  if (created.status !== 201) return false;
  const { id } = (await created.json()) as { id: string };
  if ((await uploads.patch(id, 'hello', { offset: 0 })).status !== 200) return false;
  return (await fetch(`${url}/api/files/${id}`)).status === 200;
};

/** Only the connections over which replicas hear of each other: nothing is refused, and nothing may be missed. */
const dropSubscribers = async (url: string): Promise<void> => {
  const client = new Redis(url);
  const dropped = await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  client.disconnect();
  if (Number(dropped) === 0) throw new Wrong('nobody was dropped');
};
