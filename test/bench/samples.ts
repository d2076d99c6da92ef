/** What was measured, and the numbers that stand for it. */
import type { FlowResults } from './flows/rounds.ts';
import type { RowName } from './options.ts';
import type { Row } from './rows.ts';
import type { S3Results } from './s3/rounds.ts';
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

/** The samples of a row: one per round of each server that took part. */
export type Samples = Readonly<Record<ServerName, readonly Sample[]>>;

export interface RowResult {
  readonly id: RowName;
  readonly row: Row;
  readonly samples: Samples;
}

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface LatencySample {
  readonly idle: Percentiles;
  readonly busy: Percentiles;
  /** Processors that the least busy worker child had. */
  readonly cores: number;
}

/** One kind of request to one server. */
export interface LatencyResult {
  readonly request: string;
  readonly server: ServerName;
  readonly samples: readonly LatencySample[];
}

/** Of one directory. */
export interface Results extends FlowResults, S3Results {
  readonly directory: string;
  readonly fileSystem: string;
  readonly rows: readonly RowResult[];
  readonly latency: readonly LatencyResult[];
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

export type Measure = (sample: Sample) => number;
export const speed: Measure = (sample) => sample.speed;
export const cpu: Measure = (sample) => sample.cpu;
export const peak: Measure = (sample) => sample.peak;

export const middle = (samples: readonly Sample[], measure: Measure): number => median(samples.map(measure));

/** The median of the quotients within each round: what slows a whole round down cancels out. */
export const ratio = (samples: readonly Sample[], base: readonly Sample[], measure: Measure): number =>
  median(samples.map((sample, round) => measure(sample) / measure(base[round] ?? sample)));

/** How often the 99th percentile when idle goes into that when busy. */
export const slowdown = (samples: readonly LatencySample[]): number =>
  median(samples.map(({ idle, busy }) => busy.p99 / idle.p99));
