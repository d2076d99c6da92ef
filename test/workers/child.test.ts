import { spawn } from 'node:child_process';
import t from 'tap';
import { end, watchChild } from '../../src/workers/child.ts';
import { until } from '../support/wait.ts';
import { isAlive } from './children.ts';

/** A process that does nothing for as long as the test. */
const sleeper = (): number => spawn('sleep', ['60'], { stdio: 'ignore' }).pid ?? 0;

t.test('ending a child waits until it is gone', async (t) => {
  const pid = sleeper();
  await end(pid);
  t.notOk(isAlive(pid));
  await t.resolves(end(pid), 'one that is gone already is fine');
});

t.test('a child under its limit is left alone', async (t) => {
  const pid = sleeper();
  const watch = watchChild(2 ** 30, () => {});
  watch.channel.postMessage?.({ type: 'begin', pid });
  await new Promise((resolve) => setTimeout(resolve, 600));
  t.ok(isAlive(pid));
  const died = t.rejects(watch.died(new Error('it crashed')), {
    code: 'NODE_CRASHED',
    cause: { message: 'it crashed' },
  });
  await end(pid);
  await died;
});

t.test('a child over its limit is ended', async (t) => {
  const pid = sleeper();
  const watch = watchChild(1024, () => {});
  watch.channel.postMessage?.({ type: 'begin', pid });
  await until(() => !isAlive(pid), 2000);
  await t.rejects(watch.died(new Error('it exited')), {
    code: 'RESOURCE_EXHAUSTED',
    details: { limit: 'memory', max: 1024, actual: Number },
  });
});

t.test('a child that has been let go is not watched any more', async (t) => {
  const pid = sleeper();
  const watch = watchChild(1024, () => {});
  watch.channel.postMessage?.({ type: 'begin', pid });
  watch.release();
  watch.channel.postMessage?.({ type: 'begin', pid });
  await new Promise((resolve) => setTimeout(resolve, 600));
  t.ok(isAlive(pid));
  await end(pid);
});

t.test('a child that died before it said which it was is a crash', async (t) => {
  await t.rejects(watchChild(1024, () => {}).died(new Error('it exited')), { code: 'NODE_CRASHED' });
});
