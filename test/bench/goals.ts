/** What the issues want of the numbers; `flows/goals` those of flows, `s3/goals` those of S3. A goal that is missed fails nothing: timings are no test. */
import { flowGoals } from './flows/goals.ts';
import type { RowName } from './options.ts';
import { s3Goals } from './s3/goals.ts';
import { cpu, type LatencyResult, middle, peak, type Results, ratio, type Sample, slowdown, speed } from './samples.ts';
import { type ServerName, sluiceNames } from './servers.ts';

export interface Goal {
  readonly text: string;
  /** How it is written: `1.30x`, `80 MiB`, `1`. */
  readonly unit: 'x' | ' MiB' | '';
  readonly least?: number;
  readonly most?: number;
  /** `undefined`: what it takes was not measured. */
  reached(results: Results): number | undefined;
}

/** `undefined` where the row or the server did not take part. */
const samplesOf = ({ rows }: Results, id: RowName, server: ServerName): readonly Sample[] | undefined => {
  const samples = rows.find((one) => one.id === id)?.samples[server];
  return samples?.length === 0 ? undefined : samples;
};

const against = (id: RowName, server: ServerName, base: ServerName, measure: typeof speed) => (results: Results) => {
  const [own, other] = [samplesOf(results, id, server), samplesOf(results, id, base)];
  return own && other && ratio(own, other, measure);
};

const faster = (id: RowName, server: ServerName, base: ServerName, least: number): Goal => ({
  text: `${id}: speed of ${server} / ${base}`,
  unit: 'x',
  least,
  reached: against(id, server, base, speed),
});

const onlyOn = (tmpfs: boolean, goal: Goal): Goal => ({
  ...goal,
  reached: (results) => ((results.fileSystem === 'tmpfs') === tmpfs ? goal.reached(results) : undefined),
});

/** The greatest distance of the peaks in any row; many uploads at once have a limit of their own. */
const aboveFloor = (server: ServerName): Goal => ({
  text: `every row but concurrent: peak of ${server} - floor`,
  unit: ' MiB',
  most: 80,
  reached(results) {
    const above = results.rows
      .filter(({ id }) => id !== 'concurrent')
      .flatMap(({ id }) => {
        const [own, floor] = [samplesOf(results, id, server), samplesOf(results, id, 'floor')];
        return own && floor ? [middle(own, peak) - middle(floor, peak)] : [];
      });
    return above.length === 0 ? undefined : Math.max(...above);
  },
});

const constantMemory = (server: ServerName): Goal => ({
  text: `peaks of ${server}, the larger of memory and memory-16x / the smaller`,
  unit: 'x',
  most: 1.1,
  reached(results) {
    const [small, large] = [samplesOf(results, 'memory', server), samplesOf(results, 'memory-16x', server)];
    if (small === undefined || large === undefined) return undefined;
    const [low, high] = [middle(small, peak), middle(large, peak)];
    return Math.max(low, high) / Math.min(low, high);
  },
});

const concurrentMemory = (server: ServerName): Goal => ({
  text: `concurrent: peak of ${server}`,
  unit: ' MiB',
  most: 400,
  reached(results) {
    const samples = samplesOf(results, 'concurrent', server);
    return samples && middle(samples, peak);
  },
});

const rowGoals: readonly Goal[] = [
  faster('large', 'process', 'floor', 1.3),
  { text: 'large: CPU of process / floor', unit: 'x', most: 0.85, reached: against('large', 'process', 'floor', cpu) },
  faster('large', 'full', 'floor', 1.1),
  faster('chunks', 'process', 'floor', 1.25),
  onlyOn(false, faster('small', 'full', 'floor', 0.5)),
  onlyOn(true, faster('small', 'process', 'floor', 0.8)),
  faster('small', 'full', 'tus', 2.5),
  faster('small', 'process', 'tus', 4),
  ...sluiceNames.map(aboveFloor),
  ...sluiceNames.map(constantMemory),
  ...sluiceNames.map(concurrentMemory),
];

const latencyGoal = ({ request, server, samples }: LatencyResult): Goal => ({
  text: `${request}, ${server}: p99 busy / idle`,
  unit: 'x',
  most: 3,
  reached: () => slowdown(samples),
});

interface Reached {
  readonly goal: Goal;
  readonly value: number;
}

/** The goals that these results can tell of. */
export const reachedGoals = (results: Results): readonly Reached[] =>
  [...rowGoals, ...flowGoals, ...s3Goals, ...results.latency.map(latencyGoal)].flatMap((goal) => {
    const value = goal.reached(results);
    return value === undefined ? [] : [{ goal, value }];
  });

const isReached = ({ goal: { least = 0, most = Number.POSITIVE_INFINITY }, value }: Reached): boolean =>
  value >= least && value <= most;

const show = (value: number, { unit }: Goal): string => value.toFixed(unit === ' MiB' ? 0 : 2) + unit;

export const goalColumns = {
  goal: ({ goal }: Reached) => goal.text,
  wanted: ({ goal }: Reached) =>
    goal.least === undefined ? `<= ${show(goal.most ?? 0, goal)}` : `>= ${show(goal.least, goal)}`,
  reached: ({ goal, value }: Reached) => show(value, goal),
  verdict: (reached: Reached) => (isReached(reached) ? 'ok' : 'missed'),
} as const;
