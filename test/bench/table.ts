/** From samples to Markdown tables. */

import type { MemorySample } from './flows/memory.ts';
import type { FlowResult } from './flows/rounds.ts';
import type { S3Result } from './s3/rounds.ts';
import {
  cpu,
  type LatencyResult,
  type LatencySample,
  type Measure,
  median,
  middle,
  peak,
  type RowResult,
  ratio,
  slowdown,
  speed,
} from './samples.ts';
import type { ServerName } from './servers.ts';

/** What a column is called, and its cell of a line. */
type Columns<Line> = Readonly<Record<string, (line: Line) => string>>;

/** A Markdown table, its columns aligned for reading as text. */
export const formatTable = <Line>(columns: Columns<Line>, lines: readonly Line[]): string => {
  const names = Object.keys(columns);
  const cells = lines.map((line) => Object.values(columns).map((cell) => cell(line)));
  const widths = names.map((name, index) => Math.max(name.length, ...cells.map((line) => line[index]?.length ?? 0)));
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, index) => '-'.repeat(width + 1) + (index === 0 ? '-' : ':')).join('|')}|`;
  return [format(names), rule, ...cells.map(format)].join('\n');
};

const times = (value: number): string => `${value.toFixed(2)}x`;

/** A column for each server. */
const each = (
  servers: readonly ServerName[],
  title: (server: ServerName) => string,
  cell: (line: RowResult, server: ServerName) => string,
): Columns<RowResult> =>
  Object.fromEntries(servers.map((server) => [title(server), (line: RowResult) => cell(line, server)]));

/** Speeds, processor time and memory; ratios to the floor where it took part. */
export const rowColumns = (servers: readonly ServerName[]): Columns<RowResult> => {
  const others = servers.includes('floor') ? servers.filter((server) => server !== 'floor') : [];
  const toFloor = (measure: typeof speed) => (line: RowResult, server: ServerName) =>
    times(ratio(line.samples[server], line.samples.floor, measure));
  const middleOf = (measure: typeof speed, digits: number) => (line: RowResult, server: ServerName) =>
    middle(line.samples[server], measure).toFixed(digits);
  return {
    row: ({ id, row }) => `${id}: ${row.name} (${row.unit}; CPU per ${row.per})`,
    ...each(servers, (server) => server, middleOf(speed, 0)),
    ...each(others, (server) => `${server}/floor`, toFloor(speed)),
    ...each(servers, (server) => `CPU s ${server}`, middleOf(cpu, 3)),
    ...each(others, (server) => `CPU ${server}/floor`, toFloor(cpu)),
    ...each(servers, (server) => `peak MiB ${server}`, middleOf(peak, 0)),
  };
};

const middleLatency =
  (measure: (sample: LatencySample) => number) =>
  ({ samples }: LatencyResult) =>
    median(samples.map(measure)).toFixed(2);

export const latencyColumns: Columns<LatencyResult> = {
  'latency (ms)': ({ request, server }) => `${request}, ${server}`,
  'idle p50': middleLatency(({ idle }) => idle.p50),
  'idle p99': middleLatency(({ idle }) => idle.p99),
  'busy p50': middleLatency(({ busy }) => busy.p50),
  'busy p99': middleLatency(({ busy }) => busy.p99),
  'p99 busy/idle': ({ samples }) => times(slowdown(samples)),
  'cores of the least busy child': middleLatency(({ cores }) => cores),
};

/** Each contestant of each row; ratios are to the first of the row, which is among `all`. */
export const flowColumns = (all: readonly FlowResult[]): Columns<FlowResult> => {
  const toFirst =
    (measure: Measure) =>
    ({ row, samples }: FlowResult) =>
      times(ratio(samples, all.find((one) => one.row === row)?.samples ?? samples, measure));
  return {
    flows: ({ row, contestant }) => `${row.id}: ${row.name}; ${contestant}`,
    'a second': ({ row, samples }) => `${middle(samples, speed).toFixed(2)} ${row.unit}`,
    'to the first': toFirst(speed),
    'CPU ms each': ({ samples }) => (1000 * middle(samples, cpu)).toFixed(2),
    'CPU to the first': toFirst(cpu),
    'peak MiB': ({ samples }) => middle(samples, peak).toFixed(0),
  };
};

/** Each server of each row over S3; ratios are to the first of the row, which is among `all`. */
export const s3Columns = (all: readonly S3Result[]): Columns<S3Result> => {
  const toFirst =
    (measure: Measure) =>
    ({ row, samples }: S3Result) =>
      times(ratio(samples, all.find((one) => one.row === row)?.samples ?? samples, measure));
  return {
    'over S3': ({ row, server }) => `${row.id}: ${row.row.name}; ${server}`,
    'a second': ({ samples }) => `${middle(samples, speed).toFixed(0)} MiB`,
    'to the first': toFirst(speed),
    'CPU s a GiB': ({ samples }) => middle(samples, cpu).toFixed(2),
    'CPU to the first': toFirst(cpu),
    'peak MiB': ({ samples }) => middle(samples, peak).toFixed(0),
  };
};

/** In each round. */
export const memoryColumns: Columns<MemorySample> = {
  'idle-memory (MiB)': () => 'the service without its workers',
  'after the first images': ({ warm }) => warm.toFixed(0),
  'after all': ({ after }) => after.toFixed(0),
  'all/first': ({ warm, after }) => times(after / warm),
};
