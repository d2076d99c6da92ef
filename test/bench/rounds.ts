/** Does all that is asked in rounds, so that what else the machine does meets every server. */
import { fileSystemOf } from './file-system.ts';
import { addFlowRound, emptyFlows } from './flows/rounds.ts';
import { latencyRequests, measureLatency } from './latency.ts';
import { measureRow } from './measure.ts';
import type { LatencyOptions, Options } from './options.ts';
import { addS3Round, emptyS3 } from './s3/rounds.ts';
import type { LatencySample, Results, Sample } from './samples.ts';
import { type ServerName, sluiceNames, withServer } from './servers.ts';

/** Each measurement adds to the lists of samples. */
const emptyResults = ({ rows, servers, latency, flows, s3 }: Options, directory: string) => ({
  ...emptyFlows(flows),
  ...emptyS3(s3),
  directory,
  fileSystem: fileSystemOf(directory),
  rows: rows.map((one) => ({ ...one, samples: emptySamples() })),
  latency: (latency === undefined ? [] : latencyRequests).flatMap((request) =>
    sluiceNames
      .filter((server) => servers.includes(server))
      .map((server) => ({ request, server, samples: [] as LatencySample[] })),
  ),
});

const emptySamples = (): Record<ServerName, Sample[]> => ({ floor: [], tus: [], full: [], process: [] });

type Growing = ReturnType<typeof emptyResults>;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const addRow = async (results: readonly Growing[], index: number, servers: readonly ServerName[]): Promise<void> => {
  for (const { directory, fileSystem, rows } of results) {
    const { row, samples } = rows[index]!;
    for (const server of servers) {
      const sample = await withServer(server, directory, (running) => measureRow(row, running));
      samples[server].push(sample);
      say(`${row.name}, ${fileSystem}: ${server} ${sample.speed.toFixed(0)} ${row.unit}`);
    }
  }
};

const addLatency = async (
  results: readonly Growing[],
  options: LatencyOptions,
  servers: readonly ServerName[],
): Promise<void> => {
  for (const { directory, fileSystem, latency } of results) {
    for (const server of servers.filter((name) => latency.some((one) => one.server === name))) {
      const measured = await withServer(server, directory, (running) => measureLatency(running, options));
      for (const one of latency) if (one.server === server) one.samples.push(measured[one.request]);
      say(`latency, ${fileSystem}: ${server}`);
    }
  }
};

/** One result for each directory. */
export const runRounds = async (options: Options): Promise<readonly Results[]> => {
  const { rounds, rows, latency, flows, s3, directories } = options;
  const results = directories.map((directory) => emptyResults(options, directory));
  for (let round = 0; round < rounds; round += 1) {
    const servers = round % 2 === 0 ? options.servers : options.servers.toReversed();
    say(`round ${round + 1} of ${rounds}`);
    for (const index of rows.keys()) await addRow(results, index, servers);
    if (latency !== undefined) await addLatency(results, latency, servers);
    for (const result of results) {
      if (flows !== undefined) await addFlowRound(result, result.directory, flows, round, say);
      if (s3 !== undefined) await addS3Round(result, result.directory, s3, round, say);
    }
  }
  return results;
};
