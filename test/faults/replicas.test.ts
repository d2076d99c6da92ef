/** The loop of replicas that are lost, in its short form. */
import t from 'tap';
import { findNginx } from '../services/nginx.ts';
import { findRedis } from '../services/redis.ts';
import { faults } from './command.ts';

// The loop ends by itself long before, except on the slowest machines.
t.setTimeout(300_000);

const isMissing = findNginx() === undefined || findRedis() === undefined;
const skip = isMissing && 'no Redis or nginx, and TEST_SERVICES=embedded';

void t.test('what a lost replica had in its hands, the other one brings to its end', { skip }, async (t) => {
  const { code, output, errors } = await faults('replicas', '--rounds', '3', '--lanes', '3');
  t.comment(output);
  t.equal(code, 0, errors);
  t.match(output, /\n2 kills, 1 standstills: uploads whole, jobs done once, taken over after \d+\.\d s at most/);
});
