/** The rows over S3: that they run and say all that they shall, nothing about speed. */
import { readdir } from 'node:fs/promises';
import t from 'tap';
import { findCeph } from '../services/ceph.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { bench, checkNumbers, tablesOf } from './printed.ts';

const skip = process.env['S3_ENDPOINT'] === undefined && !findCeph() ? 'there is no S3 server' : false;

void t.test('every server of every row over S3 fills every column, and the goals follow', { skip }, async (t) => {
  const directory = await temporaryDirectory(t);
  const { code, output, errors } = await bench('--short', '--group', 's3', '--dir', directory);
  t.equal(code, 0, errors);
  const [rows = [], goals = []] = tablesOf(output);
  t.strictSame(
    rows.slice(1).map(([name]) => name?.replace(/:.*;/, ':')),
    ['s3-large: sdk', 's3-large: tus', 's3-large: sluice', 's3-concurrent: sluice'],
  );
  checkNumbers(t, rows);
  t.strictSame(
    goals.slice(1).map(([goal]) => goal?.split(':')[0]),
    ['s3-large', 's3-large', 's3-large', 's3-concurrent', 's3-calls'],
  );
  t.strictSame(goals.at(-1)?.slice(2), ['1.00', 'ok'], 'a count is the same on every machine');
  t.strictSame(await readdir(directory), [], 'nothing is left behind');
});
