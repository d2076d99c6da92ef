/**
 * `npm run faults -- <command>`: the loops of this folder, for as long as one likes.
 *
 *   kill       kill -9 under uploads (`kill-loop.ts`)
 *     --kills 40    how many times the service is killed
 *   replicas   one of two replicas is killed or stands still (`replica-loop.ts`)
 *     --rounds 20   how many times
 *     --lanes 2     pairs of replicas at the same time
 *     --s3 0        1: with their files in S3
 *   redis      the Redis of two replicas is killed, silent or cut off, under load (`redis-loop.ts`)
 *     --rounds 20   how many times
 *   s3         the S3 of two replicas refuses, breaks off or says 200 for an error, under load (`s3-loop.ts`)
 *     --rounds 18   how many times
 *
 *   --seed <n>      what decides sizes and instants; printed, so that a failure can be looked at again
 */
import { parseArgs } from 'node:util';
import { findNginx } from '../services/nginx.ts';
import { findRedis } from '../services/redis.ts';
import { type S3Connection, startS3Server } from '../services/s3-server.ts';
import { findSurroundings, type Surroundings } from '../support/replicas.ts';
import type { Owner } from '../support/temporary.ts';
import { runKillLoop } from './kill-loop.ts';
import type { OutageResult } from './outages.ts';
import { runRedisLoop } from './redis-loop.ts';
import { runReplicaLoop } from './replica-loop.ts';
import { runS3Loop } from './s3-loop.ts';

type Numbers = Readonly<Record<string, number>>;

interface Command {
  /** Its options beside `seed`, and what they are by default. */
  readonly options: Numbers;
  /** What has come of it, in words. */
  run(owner: Owner, options: Numbers): Promise<string>;
}

const kill: Command = {
  options: { kills: 40 },
  async run(owner, { kills = 0, seed = 0 }) {
    const { completed, deleted, cutOff } = await runKillLoop(owner, { kills, seed });
    return `${kills} kills, ${cutOff} requests cut off: ${completed.length} uploads whole, ${deleted.length} deleted, nothing lost or left`;
  },
};

const needed = <T>(found: T | undefined, name: string): T => {
  if (found === undefined) throw new Error(`${name} is missing`);
  return found;
};

const needSurroundings = async (owner: Owner): Promise<Surroundings> =>
  needed(await findSurroundings(owner), 'Redis or nginx');

const needS3 = async (owner: Owner): Promise<S3Connection> => {
  const server = needed(await startS3Server(), 'S3');
  owner.teardown(server.stop);
  return server;
};

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const replicas: Command = {
  options: { rounds: 20, lanes: 2, s3: 0 },
  async run(owner, { rounds = 0, lanes = 0, seed = 0, s3 = 0 }) {
    const files = s3 === 0 ? undefined : await needS3(owner);
    const result = await runReplicaLoop(owner, await needSurroundings(owner), { rounds, lanes, seed, s3: files });
    return `${result.kills} kills, ${result.stops} standstills: uploads whole, jobs done once, taken over after ${inSeconds(result.takeover)} at most`;
  },
};

const tellOutages = (rounds: number, { completed, jobs, refused, recovery }: OutageResult): string =>
  `${rounds} outages, ${refused} requests refused: ${completed.length} uploads whole, ${jobs.length} jobs done, served again after ${inSeconds(recovery)} at most`;

const redis: Command = {
  options: { rounds: 20 },
  async run(owner, { rounds = 0, seed = 0 }) {
    const programs = { redis: needed(findRedis(), 'Redis'), nginx: needed(findNginx(), 'nginx') };
    return tellOutages(rounds, await runRedisLoop(owner, { rounds, seed, ...programs }));
  },
};

const s3: Command = {
  options: { rounds: 18 },
  async run(owner, { rounds = 0, seed = 0 }) {
    const around = { ...(await needSurroundings(owner)), s3: await needS3(owner) };
    return tellOutages(rounds, await runS3Loop(owner, { rounds, seed, ...around }));
  },
};

const commands: Readonly<Record<string, Command>> = { kill, replicas, redis, s3 };

const readCommand = (): { readonly name: string; readonly options: Numbers; readonly command: Command } => {
  const [name = '', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new Error(`The command is one of: ${Object.keys(commands).join(', ')}`);
  const known: Numbers = { ...command.options, seed: Date.now() % 1_000_000 };
  const options = Object.fromEntries(Object.keys(known).map((option) => [option, { type: 'string' as const }]));
  const { values } = parseArgs({ args, options });
  const given = Object.entries(values).map(([option, text]) => [option, whole(String(text))]);
  return { name, command, options: { ...known, ...Object.fromEntries(given) } };
};

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${text} is not a number from 0`);
  return Number(text);
};

/** Runs `work` and then, whatever came of it, what it wants done at its end. */
const withOwner = async <T>(work: (owner: Owner) => Promise<T>): Promise<T> => {
  const endings: (() => Promise<void>)[] = [];
  try {
    return await work({ teardown: (ending) => endings.push(ending) });
  } finally {
    for (const ending of endings.toReversed()) await ending();
  }
};

const { name, command, options } = readCommand();
const repeat = `${name} ${Object.entries(options)
  .map(([option, value]) => `--${option} ${value}`)
  .join(' ')}`;
console.log(repeat);
const begin = performance.now();
try {
  const result = await withOwner((owner) => command.run(owner, options));
  console.log(`${result} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
} catch (error) {
  console.error(error);
  console.error(`Failed with ${repeat}`);
  process.exitCode = 1;
}
