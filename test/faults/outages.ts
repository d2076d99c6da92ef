/** What all loops share that take something away from two replicas under load, and give it back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dice } from '../support/random.ts';
import type { Replicas } from '../support/replicas.ts';
import { uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { requireCalm } from './calm.ts';
import { type LoadResult, startLoad } from './load.ts';
import { findStoryProblem } from './story.ts';
import { Wrong } from './transfer.ts';

export interface Outage {
  /** What it gives ends the outage. */
  begin(): Promise<() => Promise<void>>;
  /** What must be so while it lasts, of each replica. */
  during?(url: string): Promise<void>;
}

export interface OutageResult extends LoadResult {
  /** The longest time from the end of an outage until all replicas served again, milliseconds. */
  readonly recovery: number;
}

export interface OutageOptions {
  readonly rounds: number;
  readonly seed: number;
  /** They come by turns. */
  readonly outages: readonly Outage[];
}

/** So long after everything is back it is served again, milliseconds. */
const recoveryMs = 5000;

/** Rejects when anything is not as it must be. */
export const playOutages = async (replicas: Replicas, options: OutageOptions): Promise<OutageResult> => {
  const { rounds, seed, outages } = options;
  const random = dice(seed);
  const urls = replicas.all.map(({ url }) => url);
  const load = await startLoad(urls, seed);
  let recovery = 0;
  const play = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await sleep(500 * random());
      const outage = outages[round % outages.length];
      const end = await outage?.begin();
      await Promise.all(urls.map((url) => outage?.during?.(url)));
      await sleep(1500 * random());
      await end?.();
      const since = performance.now();
      await Promise.all(urls.map((url) => until(() => isServed(url), 4 * recoveryMs)));
      recovery = Math.max(recovery, performance.now() - since);
      if (recovery > recoveryMs) throw new Wrong(`served again ${recovery} ms after outage ${round}`);
    }
  };
  await Promise.race([play(), load.failed]);
  const result = await load.finish();
  for (const id of result.completed) {
    const problem = await findStoryProblem(urls[0] ?? '', id);
    if (problem !== undefined) throw new Wrong(`the log of ${id}: ${problem}`);
  }
  requireCalm(replicas);
  return { ...result, recovery };
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

/** Refused for now, as it is documented, and within so many milliseconds. */
export const requireRefusal = async (
  what: string,
  limitMs: number,
  ask: () => Promise<{ readonly status: number; readonly headers: Headers }>,
): Promise<void> => {
  const begin = performance.now();
  const { status, headers } = await ask();
  const ms = Math.round(performance.now() - begin);
  if (status !== 503 || !(Number(headers.get('retry-after')) >= 1)) throw new Wrong(`${what} answers ${status}`);
  if (ms > limitMs) throw new Wrong(`${what} is answered after ${ms} ms`);
};

/** It lives, and says that it should be asked nothing. */
export const requireUnready = async (url: string): Promise<void> => {
  await until(async () => (await fetch(`${url}/api/ready`)).status === 503);
  const { status } = await fetch(`${url}/api/health`);
  if (status !== 200) throw new Wrong(`health answers ${status}`);
};
