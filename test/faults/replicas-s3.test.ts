/** The loop of replicas that are lost, with their files in S3. */
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

void t.test('what a lost replica has sent to S3, the other one goes on from', { skip }, async (t) => {
  const { code, output, errors } = await faults('replicas', '--rounds', '2', '--lanes', '2', '--s3', '1');
  t.comment(output);
  t.equal(code, 0, errors);
  t.match(output, /\n1 kills, 1 standstills: uploads whole, jobs done once, taken over after \d+\.\d s at most/);
});
