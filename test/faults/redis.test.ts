/** The loop of a Redis that is lost, in its short form: each way once. */
import t from 'tap';
import { findNginx } from '../services/nginx.ts';
import { findRedis } from '../services/redis.ts';
import { faults } from './command.ts';

// The loop ends by itself long before, except on the slowest machines.
t.setTimeout(300_000);

const isMissing = findNginx() === undefined || findRedis() === undefined;
const skip = isMissing && 'no Redis or nginx, and TEST_SERVICES=embedded';

void t.test(
  'without Redis clients are told to come again, and nothing is lost when it is back',
  { skip },
  async (t) => {
    const { code, output, errors } = await faults('redis', '--rounds', '3');
    t.comment(output);
    t.equal(code, 0, errors);
    t.match(output, /\n3 outages, [1-9]\d* requests refused: [1-9]\d* uploads whole, [1-9]\d* jobs done, served again/);
  },
);
