/** What the issues want of flows. */
import type { Goal } from '../goals.ts';
import { cpu, type Measure, median, middle, type Results, ratio, type Sample, speed } from '../samples.ts';
import type { FlowRowName } from './rows.ts';

/** `undefined` where the contestant did not take part. */
const samplesOf = ({ flows }: Results, id: FlowRowName, contestant: string): readonly Sample[] | undefined =>
  flows.find((one) => one.row.id === id && one.contestant === contestant)?.samples;

const between =
  (id: FlowRowName, contestant: string, base: string, measure: Measure) =>
  (results: Results): number | undefined => {
    const [own, other] = [samplesOf(results, id, contestant), samplesOf(results, id, base)];
    return own && other && ratio(own, other, measure);
  };

const time: Measure = (sample) => 1 / sample.speed;

/** The faster of the two ways to write it by hand. */
const handWritten = ['sharp, memory', 'sharp, files'] as const;

const chainTime = (results: Results): number | undefined => {
  const ways = handWritten.flatMap((name) => {
    const samples = samplesOf(results, 'chain', name);
    return samples === undefined ? [] : [{ name, time: middle(samples, time) }];
  });
  const [best] = ways.toSorted((a, b) => a.time - b.time);
  return best && between('chain', 'engine', best.name, time)(results);
};

export const flowGoals: readonly Goal[] = [
  {
    ...{ text: 'image: speed of engine / sharp', unit: 'x', least: 0.95 },
    reached: between('image', 'engine', 'sharp', speed),
  },
  {
    ...{ text: 'image: speed of service / sharp', unit: 'x', least: 0.85 },
    reached: between('image', 'service', 'sharp', speed),
  },
  { text: 'chain: time of engine / faster of sharp', unit: 'x', most: 1.15, reached: chainTime },
  {
    ...{ text: 'sizes: CPU of one flow / four flows', unit: 'x', most: 0.6 },
    reached: between('sizes', 'one flow', 'four flows', cpu),
  },
  // The encoders have the same to do either way, so that this is what can be told of the engine.
  {
    ...{ text: 'sizes-webp: CPU of one flow / sharp', unit: 'x', most: 1.15 },
    reached: between('sizes-webp', 'one flow', 'sharp', cpu),
  },
  {
    ...{ text: 'idle-memory: after all images / after the first', unit: 'x', most: 1.2 },
    reached: ({ memory }) => (memory.length === 0 ? undefined : median(memory.map(({ warm, after }) => after / warm))),
  },
];
