/** What `docker compose up` starts, by processes in the place of containers (`test/compose/stack.ts`). */
import { readdir } from 'node:fs/promises';
import t from 'tap';
import { type Container, type Stack, startStack } from '../compose/stack.ts';
import { call, download, ended } from '../support/api.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { firstPiece, takeTour } from '../support/tour.ts';
import { until } from '../support/wait.ts';

const directory = await temporaryDirectory(t);
const first = await startStack(directory);
const skip = first === undefined && 'a service is missing, and TEST_SERVICES=embedded';

const named = ({ containers }: Stack, service: string): readonly Container[] =>
  containers.filter((container) => container.service === service);

t.test('what is up serves, and knows what it knew when all was stopped or killed', { skip }, async (t) => {
  let stack = first as Stack;
  t.teardown(() => stack.stop());
  const replicas = named(stack, 'sluice');
  t.equal(replicas.length, 2);
  for (const { output } of replicas) {
    t.match(output(), /data: s3, records: redis, events: redis/);
    t.notMatch(output(), /Redis has no append-only file|Redis throws keys away/);
  }
  const tour = await takeTour(stack.url);
  t.match(tour, { offset: firstPiece, widths: { 'small-web': 400, 'large-web': 1600 } });
  t.strictSame([tour.frames[0], tour.frames.at(-1)], ['flow_snapshot', 'flow_complete']);
  for (const name of ['sluice-1', 'sluice-2'])
    t.strictSame(await readdir(`${directory}/${name}`), ['scratch'], 'no file is kept in a container');

  const before = stack.containers;
  t.strictSame(new Set(await stack.stop()), new Set([0]), 'all end in peace');
  for (const { service, isWell } of before) t.notOk(await isWell(), `the health check of ${service} sees that`);

  const knowsAll = async () => {
    const { outputs } = await ended(stack.url, tour.jobId);
    return (await download(stack.url, outputs['small-web'].url)).length === tour.bytes['small-web'];
  };
  stack = (await startStack(directory)) as Stack;
  t.ok(await knowsAll(), 'after a stop of all');
  for (const one of [...named(stack, 'valkey'), ...named(stack, 's3')]) {
    const pid = one.pid();
    process.kill(pid, 'SIGKILL');
    await until(() => one.pid() !== pid);
    await until(() => one.isWell());
  }
  await until(async () => (await call(stack.url, 'GET', '/api/ready')).status === 200);
  t.ok(await knowsAll(), 'after an end without a word');
  await named(stack, 'sluice')[0]?.stop();
  for (let turn = 0; turn < 4; turn += 1)
    t.equal((await call(stack.url, 'GET', '/api/ready')).status, 200, 'one replica is enough');
});
