/**
 * `npm run bench`: Sluice against a floor, the bare `node:http` server of `floor.ts`, and a peer, `@tus/server`, in one
 * interleaved run. Machines and their other work differ, so only the ratios within one run mean anything.
 *
 * `rows` and `latency` say what is done, `servers` to whom and `rounds` in which order; `client` does it, `usage` reads
 * what it has cost, `table` and `goals` print. The rows of flows are in `flows`: pictures against bare sharp, the engine
 * against bare SQLite; and those of `s3` send files on to a real S3 server, beside a bare loop of the SDK and
 * `@tus/s3-store`.
 *
 *   --group uploads,flows,s3                                         default: uploads,flows
 *   --rows large,chunks,small,memory,memory-16x,concurrent,latency   default: those of the groups
 *          engine,image,chain,sizes,sizes-webp,idle-memory
 *          s3-large,s3-concurrent,s3-calls
 *   --servers floor,tus,full,process                                 default: all; latency: Sluice only; not flows, not s3
 *   --rounds 5         rounds; the order of the servers is reversed in every second one
 *   --dir <path>       where the servers write; may be repeated; default: the temporary directory and /dev/shm
 *   --size 1024        large: MiB in one PATCH
 *   --chunked 512      chunks: MiB in PATCHes of 8 MiB
 *   --uploads 4000     small: uploads of 10 KiB
 *   --memory 256       memory: MiB in one PATCH; memory-16x: 16 times as many, on the file system for that long
 *   --concurrent 200   concurrent: uploads of 8 MiB
 *   --requests 1500    latency: requests of each kind
 *   --photo 6000       latency: pixels of the widest photograph that keeps the worker children busy
 *   --flows 4000       engine: flows
 *   --images 60        image, chain, sizes, sizes-webp: photographs
 *   --camera 4000      image, chain, sizes, sizes-webp, idle-memory: pixels of the longer side of the photograph
 *   --kept 200         idle-memory: photographs in all
 *   --s3-size 1024     s3-large: MiB in one PATCH; the S3 server keeps all of a round in memory
 *   --s3-uploads 20    s3-concurrent: uploads at once
 *   --s3-each 256      s3-concurrent: MiB of each
 *   --s3-calls 20      s3-calls: uploads of 64 KiB whose requests are counted
 *   --settle 10        idle-memory: seconds without work before the memory is looked at
 *   --short            one round of small sizes: shows that everything runs, nothing else
 */
import { availableParallelism, cpus } from 'node:os';
import { requireRoom } from './file-system.ts';
import { goalColumns, reachedGoals } from './goals.ts';
import { readOptions } from './options.ts';
import { runRounds } from './rounds.ts';
import type { Results } from './samples.ts';
import { flowColumns, formatTable, latencyColumns, memoryColumns, rowColumns, s3Columns } from './table.ts';

const options = readOptions(process.argv.slice(2));
const { rounds, servers, rows, directories } = options;

/** Tables without a line are left out. */
const print = <Line>(columns: Parameters<typeof formatTable<Line>>[0], lines: readonly Line[]): void => {
  if (lines.length > 0) console.log(`\n${formatTable(columns, lines)}`);
};

const printDirectory = (results: Results): void => {
  console.log(`\n## ${results.fileSystem} at ${results.directory}`);
  print(rowColumns(servers), results.rows);
  print(latencyColumns, results.latency);
  print(flowColumns(results.flows), results.flows);
  print(memoryColumns, results.memory);
  print(s3Columns(results.s3), results.s3);
  print(goalColumns, reachedGoals(results));
};

for (const directory of directories) await requireRoom(directory, Math.max(0, ...rows.map(({ row }) => row.bytes)));
const all = await runRounds(options);
console.log(`${availableParallelism()} cores (${cpus()[0]?.model}), Node ${process.version}.`);
console.log(`Medians of ${rounds} rounds; tus: @tus/server; full and process: Sluice with that DURABILITY.`);
console.log("Ratios are medians of the rounds' ratios.");
for (const results of all) printDirectory(results);
