/** The loop of an S3 that misbehaves, in its short form: it refuses, says 200 for an error, and breaks off. */
import t from 'tap';
import { findCeph } from '../services/ceph.ts';
import { findNginx } from '../services/nginx.ts';
import { findRedis } from '../services/redis.ts';
import { faults } from './command.ts';

// The loop ends by itself long before, except on the slowest machines.
t.setTimeout(300_000);

const isThere = process.env['S3_ENDPOINT'] !== undefined || findCeph();
const isMissing = !isThere || findNginx() === undefined || findRedis() === undefined;
const skip = isMissing && 'no S3, Redis or nginx, and TEST_SERVICES=embedded';

void t.test('without S3 clients are told to come again, and nothing is lost when it is back', { skip }, async (t) => {
  const { code, output, errors } = await faults('s3', '--rounds', '3');
  t.comment(output);
  t.equal(code, 0, errors);
  t.match(output, /\n3 outages, [1-9]\d* requests refused: [1-9]\d* uploads whole, [1-9]\d* jobs done, served again/);
});
