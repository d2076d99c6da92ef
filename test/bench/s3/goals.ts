/** What the issues want of uploads into S3. */
import type { Goal } from '../goals.ts';
import { cpu, type Measure, median, middle, peak, type Results, ratio, type Sample, speed } from '../samples.ts';
import type { S3RowName } from './rounds.ts';
import type { S3ServerName } from './servers.ts';

/** `undefined` where the row was not asked for. */
const samplesOf = ({ s3 }: Results, id: S3RowName, server: S3ServerName): readonly Sample[] | undefined =>
  s3.find((one) => one.row.id === id && one.server === server)?.samples;

const large =
  (base: S3ServerName, measure: Measure) =>
  (results: Results): number | undefined => {
    const [own, other] = [samplesOf(results, 's3-large', 'sluice'), samplesOf(results, 's3-large', base)];
    return own && other && ratio(own, other, measure);
  };

export const s3Goals: readonly Goal[] = [
  { text: 's3-large: speed of sluice / sdk', unit: 'x', least: 0.9, reached: large('sdk', speed) },
  { text: 's3-large: speed of sluice / tus', unit: 'x', least: 2, reached: large('tus', speed) },
  { text: 's3-large: CPU of sluice / tus', unit: 'x', most: 0.5, reached: large('tus', cpu) },
  {
    ...{ text: 's3-concurrent: peak of sluice', unit: ' MiB', most: 450 },
    reached(results) {
      const samples = samplesOf(results, 's3-concurrent', 'sluice');
      return samples && middle(samples, peak);
    },
  },
  {
    ...{ text: 's3-calls: requests to S3 for an upload of one part', unit: '', most: 1 },
    reached: ({ calls }) => (calls.length === 0 ? undefined : median(calls)),
  },
];
