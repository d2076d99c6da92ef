/**
 * Acceptance tests once more, with two replicas behind nginx in the place of one process: here those that tell most in
 * a short time. `TEST_REPLICAS=2 npx tap test/acceptance/*.test.ts` runs all that can.
 */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { findNginx } from '../services/nginx.ts';
import { findRedis } from '../services/redis.ts';

const isMissing = findNginx() === undefined || findRedis() === undefined;
const skip = isMissing && 'no Redis or nginx, and TEST_SERVICES=embedded';

for (const name of ['uploads', 'files', 'jobs', 'params']) {
  const file = fileURLToPath(new URL(`${name}.test.ts`, import.meta.url));
  const env = { ...process.env, TEST_REPLICAS: '2' };
  void t.spawn(process.execPath, [file], { env, skip }, `${name}, over two replicas`);
}
