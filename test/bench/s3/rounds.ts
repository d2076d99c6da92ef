/** Has every contestant do each row over S3, one after the other, and counts what an upload asks of the S3 server. */
import { measureRow } from '../measure.ts';
import type { Row } from '../rows.ts';
import type { Sample } from '../samples.ts';
import { countCalls } from './calls.ts';
import { type S3ServerName, withS3, withS3Server } from './servers.ts';

export type S3RowName = 's3-large' | 's3-concurrent';

export interface S3Row {
  readonly id: S3RowName;
  readonly row: Row;
  /** The others are compared with the first. */
  readonly servers: readonly S3ServerName[];
}

export interface S3Options {
  readonly rows: readonly S3Row[];
  /** Uploads of one part whose requests are counted; left out unless that is asked for. */
  readonly calls?: number;
}

/** One server in one row: a sample for each round. */
export interface S3Result {
  readonly row: S3Row;
  readonly server: S3ServerName;
  readonly samples: readonly Sample[];
}

/** Of one directory. */
export interface S3Results {
  readonly s3: readonly S3Result[];
  /** Requests to the S3 server for one upload of one part, in each round. */
  readonly calls: readonly number[];
}

/** Each round adds to it. */
interface GrowingS3 extends S3Results {
  readonly s3: readonly (S3Result & { readonly samples: Sample[] })[];
  readonly calls: number[];
}

export const emptyS3 = (options: S3Options | undefined): GrowingS3 => ({
  s3: (options?.rows ?? []).flatMap((row) => row.servers.map((server) => ({ row, server, samples: [] as Sample[] }))),
  calls: [],
});

/** One more sample for each server, over one S3 server; in every second round the order is reversed. */
export const addS3Round = (
  results: GrowingS3,
  directory: string,
  { calls }: S3Options,
  round: number,
  say: (text: string) => void,
): Promise<void> =>
  withS3(async (s3) => {
    for (const { row, server, samples } of round % 2 === 0 ? results.s3 : results.s3.toReversed()) {
      const sample = await withS3Server(server, s3, directory, (running) => measureRow(row.row, running));
      samples.push(sample);
      say(`${row.id}: ${server} ${sample.speed.toFixed(0)} ${row.row.unit}`);
    }
    if (calls === undefined) return;
    results.calls.push(await countCalls(s3, directory, calls));
    say(`s3-calls: ${results.calls.at(-1)}`);
  });
