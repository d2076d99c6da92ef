/**
 * `npm run bench`: Sluice against a floor, the bare `node:http` server of `floor.ts`, in one interleaved run. Machines
 * and their other work differ, so only the ratios within one run mean anything.
 *
 * `rows` says what is done, `servers` to whom, `client` does it, `usage` reads what it has cost, `table` prints.
 *
 *   --rounds 5      rounds; the order of the servers is reversed in every second one
 *   --size 1024     MiB of the large upload
 *   --uploads 4000  small uploads
 *   --dir <path>    where the servers write; default: the system's temporary directory
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { largeRow, type Row, smallRow } from './rows.ts';
import { type ServerName, withServer } from './servers.ts';
import { formatTable, type Sample } from './table.ts';
import { cpuSeconds, idle, peakMemory } from './usage.ts';

const names: readonly ServerName[] = ['floor', 'full', 'process'];

const options = () => {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      size: { type: 'string', default: '1024' },
      uploads: { type: 'string', default: '4000' },
      dir: { type: 'string', default: tmpdir() },
    },
  });
  return { rounds: whole(values.rounds), size: whole(values.size), uploads: whole(values.uploads), dir: values.dir };
};

const whole = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is not a number above 0`);
  return Number(text);
};

const measure = (row: Row, name: ServerName, directory: string): Promise<Sample> =>
  withServer(name, directory, async ({ pid, url }) => {
    await row.warmUp(url);
    await idle(pid);
    const before = cpuSeconds(pid);
    const seconds = await row.work(url);
    return { speed: row.amount / seconds, cpu: (cpuSeconds(pid) - before) / row.times, peak: peakMemory(pid) };
  });

const runRounds = async (rows: readonly Row[], rounds: number, directory: string) => {
  const results = rows.map((row) => ({
    row,
    samples: { floor: [], full: [], process: [] } as Record<ServerName, Sample[]>,
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { row, samples } of results) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const sample = await measure(row, name, directory);
        samples[name].push(sample);
        process.stderr.write(`${round + 1}/${rounds} ${row.name}: ${name} ${sample.speed.toFixed(0)} ${row.unit}\n`);
      }
    }
  }
  return results;
};

/** The type of the file system that the directory is on. */
const fileSystemOf = (directory: string): string => {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const above = mounts.filter(([, place = '/']) => `${resolve(directory)}/`.startsWith(place.replace(/\/?$/, '/')));
  const [nearest] = above.toSorted(([, a = ''], [, b = '']) => b.length - a.length);
  return nearest?.[2] ?? 'unknown';
};

const { rounds, size, uploads, dir } = options();
const results = await runRounds([largeRow(size), smallRow(uploads)], rounds, dir);
console.log(
  `${availableParallelism()} cores (${cpus()[0]?.model}), Node ${process.version}, ${fileSystemOf(dir)} at ${dir}`,
);
console.log(
  `Medians of ${rounds} rounds; full and process: Sluice with that DURABILITY; ratios are medians of the rounds'.`,
);
console.log(formatTable(results));
