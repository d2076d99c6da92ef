/**
 * kill -9 at random instants while clients upload, again and again over one directory of data: each upload arrives whole
 * (`transfer` says what else its client may expect), its log tells one story, and no file is left that nobody knows.
 */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentOf, dice } from '../support/random.ts';
import type { RunningService } from '../support/running-service.ts';
import { filesBelow } from '../support/stored-files.ts';
import type { Owner } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { type Lives, prepareLives } from './lives.ts';
import { findStoryProblem } from './story.ts';
import { advance, anyTransfer, type Transfer, Wrong } from './transfer.ts';

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: number;
}

/** Ids, by how their uploads have ended. */
export interface KillLoopResult {
  readonly completed: readonly string[];
  readonly deleted: readonly string[];
  /** Requests that a kill has cut off. */
  readonly cutOff: number;
}

const clients = 4;

/** The longest that a life lasts, milliseconds. */
const lifeMs = 500;

/** Milliseconds after which the loop hangs; far more than a busy machine needs. */
const limitMs = (kills: number): number => 60_000 + kills * 5000;

/** How long the sweep of what a crash has left may take, milliseconds: it runs every ten seconds. */
const sweepMs = 40_000;

/** Rejects when anything is not as it must be. What it starts ends with `owner`. */
export const runKillLoop = async (owner: Owner, options: KillLoopOptions): Promise<KillLoopResult> => {
  const openLives = await prepareLives(owner, { WORKERS: '0' });
  const lives = await openLives(owner);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('it takes too long')), limitMs(options.kills));
  try {
    const { result, service } = await uploadUnderKills(lives, options, late.signal);
    for (const id of result.completed) {
      const problem = await findStoryProblem(service.url, id);
      if (problem !== undefined) throw new Wrong(`the log of ${id}: ${problem}`);
    }
    await requireNoOrphans(lives, service, result.deleted);
    if (/"level":"(error|fatal)"/.test(service.output())) throw new Wrong(service.output());
    return result;
  } finally {
    clearTimeout(timer);
  }
};

const uploadUnderKills = async (lives: Lives, { kills, seed }: KillLoopOptions, late: AbortSignal) => {
  const completed: string[] = [];
  const deleted: string[] = [];
  let cutOff = 0;
  let service = await lives.start();
  let doomed: RunningService | undefined;
  let done = false;

  /** One step of an upload, again with each next life that it needs. */
  const step = async (transfer: Transfer, random: () => number): ReturnType<typeof advance> => {
    const life = service;
    try {
      return await advance(life.url, transfer, random);
    } catch (error) {
      if (error instanceof Wrong || life !== doomed) throw explain(error, transfer);
      cutOff += 1;
      await until(() => life !== service, limitMs(1));
      return undefined;
    }
  };
  const uploadMany = async (client: number) => {
    const random = dice(seed + client);
    for (let number = client; !done; number += clients) {
      const transfer = anyTransfer(random, (length) => contentOf(seed + number, length));
      let ending: Awaited<ReturnType<typeof advance>>;
      do ending = await step(transfer, random);
      while (ending === undefined && !late.aborted);
      (ending === 'deleted' ? deleted : completed).push(transfer.id ?? '');
    }
  };
  const kill = async () => {
    const random = dice(seed);
    for (let count = 0; count < kills && !late.aborted; count += 1) {
      await sleep(random() * lifeMs);
      doomed = service;
      await service.stop('SIGKILL');
      service = await lives.start();
    }
    done = true;
  };
  await Promise.all([kill(), ...Array.from({ length: clients }, (_, client) => uploadMany(client + 1))]).finally(() => {
    done = true;
  });
  late.throwIfAborted();
  return { result: { completed, deleted, cutOff }, service };
};

const explain = (error: unknown, transfer: Transfer): Error => {
  const { id, content, withOffset, deletedAt, acknowledged, sent } = transfer;
  const state = { id, size: content.length, withOffset, deletedAt, acknowledged, sent };
  return new Wrong(`${error instanceof Error ? error.message : error}: ${JSON.stringify(state)}`, { cause: error });
};

/** In the end each file is that of a completed upload, and has its size. */
const requireNoOrphans = async ({ data }: Lives, { url }: RunningService, deleted: readonly string[]) => {
  const orphans = async () => {
    const found: string[] = [];
    for (const path of await filesBelow(join(data, 'files'))) {
      const id = basename(path);
      const { status, size } = await uploadClient(url).get(id);
      const stored = (await stat(path)).size;
      if (status !== 'completed' || size !== stored) found.push(`${path} of ${stored} bytes: ${status}, size ${size}`);
      if (deleted.includes(id)) found.push(`${path} was deleted`);
    }
    return found;
  };
  await until(async () => (await orphans()).length === 0, sweepMs).catch(async () => {
    throw new Wrong(`files that nobody knows:\n${(await orphans()).join('\n')}`);
  });
};
