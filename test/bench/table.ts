/** From samples to the table. */
import type { Row } from './rows.ts';
import type { ServerName } from './servers.ts';

/** One run of one row on one server. */
export interface Sample {
  /** In the unit of the row. */
  readonly speed: number;
  /** Seconds, for what the row says. */
  readonly cpu: number;
  /** MiB. */
  readonly peak: number;
}

/** The samples of a row: one per round of each server. */
export type Samples = Readonly<Record<ServerName, readonly Sample[]>>;

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return (low + high) / 2;
};

type Measure = (sample: Sample) => number;
const speed: Measure = (sample) => sample.speed;
const cpu: Measure = (sample) => sample.cpu;
const peak: Measure = (sample) => sample.peak;

const middle = (samples: readonly Sample[], measure: Measure): number => median(samples.map(measure));

/** The median of the quotients within each round: what slows a whole round down cancels out. */
const ratio = (samples: readonly Sample[], floor: readonly Sample[], measure: Measure): string =>
  `${median(samples.map((sample, round) => measure(sample) / measure(floor[round] ?? sample))).toFixed(2)}x`;

const columns: Readonly<Record<string, (row: Row, samples: Samples) => string>> = {
  row: ({ name, unit, per }) => `${name} (${unit}; CPU per ${per})`,
  floor: (_, { floor }) => middle(floor, speed).toFixed(0),
  full: (_, { full }) => middle(full, speed).toFixed(0),
  process: (_, samples) => middle(samples.process, speed).toFixed(0),
  'full/floor': (_, { full, floor }) => ratio(full, floor, speed),
  'process/floor': (_, samples) => ratio(samples.process, samples.floor, speed),
  'CPU s floor': (_, { floor }) => middle(floor, cpu).toFixed(3),
  'CPU s full': (_, { full }) => middle(full, cpu).toFixed(3),
  'CPU s process': (_, samples) => middle(samples.process, cpu).toFixed(3),
  'CPU full/floor': (_, { full, floor }) => ratio(full, floor, cpu),
  'CPU process/floor': (_, samples) => ratio(samples.process, samples.floor, cpu),
  'peak MiB floor': (_, { floor }) => middle(floor, peak).toFixed(0),
  'peak MiB full': (_, { full }) => middle(full, peak).toFixed(0),
  'peak MiB process': (_, samples) => middle(samples.process, peak).toFixed(0),
};

/** A Markdown table, its columns aligned for reading as text. */
export const formatTable = (results: readonly { readonly row: Row; readonly samples: Samples }[]): string => {
  const names = Object.keys(columns);
  const lines = results.map(({ row, samples }) => Object.values(columns).map((cell) => cell(row, samples)));
  const widths = names.map((name, index) => Math.max(name.length, ...lines.map((line) => line[index]?.length ?? 0)));
  const format = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, index) => '-'.repeat(width + 1) + (index === 0 ? '-' : ':')).join('|')}|`;
  return [format(names), rule, ...lines.map(format)].join('\n');
};
