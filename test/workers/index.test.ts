import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { MadeFile, WorkerPool } from '../../src/ports/worker-pool.ts';
import { workerPool } from '../../src/workers/index.ts';
import { makeTasks, testWorkerPool } from '../conformance/worker-pool.ts';
import { flipPlugin, writePlugin } from '../support/plugin.ts';
import { until } from '../support/wait.ts';
import { childrenOf, isAlive } from './children.ts';

const memoryLimit = 2 ** 31;
const never = new AbortController().signal;
const source = new URL('../../src/workers/index.ts', import.meta.url).href;

testWorkerPool('child processes', async () => {
  const driver = workerPool({ size: 2, memoryLimit });
  return { driver, teardown: () => driver.close() };
});

const start = async (t: Test, options: Partial<Parameters<typeof workerPool>[0]> = {}) => {
  const pool = workerPool({ size: 1, memoryLimit, ...options });
  t.teardown(() => pool.close());
  return { pool, tasks: await makeTasks(t) };
};

/** The child that works, once it has been at it for a while. */
const busyChild = async (): Promise<number> => {
  await delay(1500);
  const [child = 0] = await childrenOf();
  return child;
};

t.test('a child that dies takes its task with it, and no other', async (t) => {
  const { pool, tasks } = await start(t);
  const run = pool.run(await tasks.long(), never).catch((error: unknown) => error);
  const child = await busyChild();
  process.kill(child, 'SIGSEGV');
  t.match(await run, { code: 'NODE_CRASHED', message: 'The process that ran the node died' });
  t.notOk(isAlive(child));
  t.equal((await pool.run(await tasks.short(), never)).length, 1, 'the next task runs');
});

t.test('an aborted child is gone at once', async (t) => {
  const { pool, tasks } = await start(t);
  const times: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const controller = new AbortController();
    const run = pool.run(await tasks.long(), controller.signal).catch(() => isAlive(child));
    const child = await busyChild();
    const before = performance.now();
    controller.abort();
    t.equal(await run, false, 'it has ended before the caller hears of it');
    times.push(performance.now() - before);
  }
  // About 30 on an idle machine. tinypool's own way out takes up to 1000, the encoder half a minute.
  t.ok(Math.min(...times) < 500, `${times.map(Math.round)} ms`);
});

t.test('a child that takes too much memory is ended', async (t) => {
  const max = 200 * 2 ** 20;
  const { pool, tasks } = await start(t, { memoryLimit: max });
  const error: unknown = await pool.run(await tasks.long(), never).catch((error: unknown) => error);
  t.match(error, { code: 'RESOURCE_EXHAUSTED', details: { limit: 'memory', max } });
  t.ok((error as { details: { actual: number } }).details.actual > max);
  t.equal((await pool.run(await tasks.short(), never)).length, 1, 'a smaller task runs');
});

t.test('children that die without a task are replaced', async (t) => {
  const errors: Error[] = [];
  const { pool, tasks } = await start(t, { onError: (error) => errors.push(error) });
  await pool.run(await tasks.short(), never);
  const [idle = 0] = await childrenOf();
  process.kill(idle, 'SIGKILL');
  await until(() => errors.length > 0);
  t.equal((await pool.run(await tasks.short(), never)).length, 1);
  t.notOk((await childrenOf()).includes(idle));
});

t.test('a task that waits for a child that dies while it starts gets another', async (t) => {
  const { pool, tasks } = await start(t);
  await pool.run(await tasks.short(), never);
  const [first = 0] = await childrenOf();
  const task = await tasks.short();
  process.kill(first, 'SIGKILL');
  await until(async () => (await childrenOf()).some((child) => child !== first));
  const run = pool.run(task, never);
  for (const child of await childrenOf()) process.kill(child, 'SIGKILL');
  t.equal((await run).length, 1);
});

t.test('a child knows nothing of the server, and comes after it', async (t) => {
  const tasks = await makeTasks(t);
  const program = `
    import { readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { childrenOf } from ${JSON.stringify(new URL('children.ts', import.meta.url).href)};
    import { workerPool } from ${JSON.stringify(source)};
    const pool = workerPool({ size: 1, memoryLimit: ${memoryLimit} });
    await pool.run(${JSON.stringify(await tasks.short())}, new AbortController().signal);
    const [child] = await childrenOf();
    const read = (name) => readFileSync('/proc/' + child + '/' + name, 'utf8').split('\\0');
    console.log(JSON.stringify([read('environ'), getPriority(child), read('cmdline')]));
  `;
  // `env -i`, because tap gives every process something of its own.
  const server = ['-i', 'SECRET=open sesame', process.execPath, '--no-deprecation', '--input-type=module', '--eval'];
  const output = execFileSync('env', [...server, program]);
  const [environ, priority, command]: [string[], number, string[]] = JSON.parse(String(output));
  const ours = environ.filter((entry) => entry !== '' && !/^(NODE_CHANNEL_|TINYPOOL_)/.test(entry));
  t.same(ours.sort(), ['MALLOC_ARENA_MAX=2', 'TZ=UTC']);
  t.equal(priority, 10);
  t.notOk(command.includes('--no-deprecation'), 'nor of its arguments');
});

t.test('children know the kinds of plugins', async (t) => {
  const source = flipPlugin.replace('characters: text.length', 'process: process.pid');
  const { pool, tasks } = await start(t, { plugins: [await writePlugin(t, source)] });
  const [[output] = []] = await pool.run(await tasks.short({ kind: 'flip-text', options: { times: 2 } }), never);
  t.match(output, { fileName: 'photo.jpeg', mimeType: 'text/plain' });
  const { meta } = output as MadeFile;
  t.same([meta['process']], await childrenOf(), 'they run there');
  t.equal((await pool.run(await tasks.short(), never)).length, 1, 'beside the built-in ones');
});

t.test('a plugin that breaks a child is named to the log', async (t) => {
  const source = `${flipPlugin}\nif (process.env.TINYPOOL_WORKER_ID) throw new Error('not here');`;
  const { pool, tasks } = await start(t, { plugins: [await writePlugin(t, source)] });
  const error: unknown = await pool.run(await tasks.short(), never).catch((error: unknown) => error);
  t.match(error, { code: 'NODE_CRASHED', cause: { message: /flip-text\.ts": cannot be loaded: not here$/ } });
});

t.test('a child ends with the server, also in the middle of a task', async (t) => {
  const tasks = await makeTasks(t);
  const program = `
    import { workerPool } from ${JSON.stringify(source)};
    const pool = workerPool({ size: 2, memoryLimit: ${memoryLimit} });
    await pool.run(${JSON.stringify(await tasks.long())}, new AbortController().signal);
  `;
  const server = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' });
  await delay(2500);
  const children = await childrenOf(server.pid);
  t.equal(children.length, 2);
  server.kill('SIGKILL');
  await once(server, 'exit');
  await until(() => !children.some(isAlive), 2000);
});

t.test('an idle pool does not keep a process alive', async (t) => {
  const program = `
    import { workerPool } from ${JSON.stringify(source)};
    workerPool({ size: 1, memoryLimit: ${memoryLimit} });
  `;
  const server = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' });
  t.same(await once(server, 'exit'), [0, null]);
});

t.test('a pool of none runs nothing', async (t) => {
  const { pool, tasks } = await start(t, { size: 0 });
  const none: WorkerPool = pool;
  t.equal(none.size, 0);
  await t.rejects(pool.run(await tasks.short(), never), { code: 'INTERNAL_ERROR' });
  t.same(await childrenOf(), []);
});
