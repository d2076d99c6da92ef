/**
 * `npm run faults -- kill`: the kill loop (`kill-loop.ts`), for as long as one likes.
 *
 *   --kills 40   how many times the service is killed
 *   --seed <n>   what decides sizes and instants; printed, so that a failure can be looked at again
 */
import { parseArgs } from 'node:util';
import type { Owner } from '../support/temporary.ts';
import { runKillLoop } from './kill-loop.ts';

const options = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kills: { type: 'string', default: '40' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  if (positionals.join(' ') !== 'kill') throw new Error('The command is: kill [--kills 40] [--seed <n>]');
  return { kills: whole(values.kills), seed: whole(values.seed) };
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

const { kills, seed } = options();
const repeat = `--kills ${kills} --seed ${seed}`;
console.log(repeat);
const begin = performance.now();
try {
  const { completed, deleted, cutOff } = await withOwner((owner) => runKillLoop(owner, { kills, seed }));
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(
    `${kills} kills, ${cutOff} requests cut off: ${completed.length} uploads whole, ${deleted.length} deleted, nothing lost or left (${seconds} s)`,
  );
} catch (error) {
  console.error(error);
  console.error(`Failed with ${repeat}`);
  process.exitCode = 1;
}
