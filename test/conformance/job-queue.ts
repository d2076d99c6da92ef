/**
 * What every job queue does. An entry may be delivered twice, but a healthy queue whose holders live does not do so:
 * the tests count deliveries where nothing goes wrong.
 */
import t, { type Test } from 'tap';
import type { JobQueue, QueueHandler } from '../../src/ports/job-queue.ts';
import type { Fixture } from '../support/fixture.ts';
import { gate, quiet, until } from '../support/wait.ts';
import { entry, waking } from './job-queue-wakes.ts';

/** What the suite needs beside a fresh queue. */
export interface QueueFixture extends Fixture<JobQueue> {
  /** Takes the queue away from its handlers as the death of the process does; gives a queue over what is left. */
  crash(): Promise<JobQueue>;
}

type Case = (title: string, run: (t: Test, queue: JobQueue, fixture: QueueFixture) => Promise<void>) => void;

/** Milliseconds by which two clocks, or a timer and its clock, may differ. */
const tolerance = 20;

/** A handler that is done at once, and the ids that it has seen. */
const collect = () => {
  const seen: string[] = [];
  const handler: QueueHandler = async ({ id }) => {
    seen.push(id);
    return 'done';
  };
  return { seen, handler };
};

/** Runs the suite; `name` is shown in its titles. */
export const testJobQueue = (name: string, make: () => Promise<QueueFixture>): void => {
  const test: Case = (title, run) => {
    void t.test(`${name}: ${title}`, async (t) => {
      const fixture = await make();
      t.teardown(fixture.teardown);
      await run(t, fixture.driver, fixture);
    });
  };
  delivering(test);
  ignoring(test);
  waking(test);
  delaying(test);
  failing(test);
  closing(test);
};

const delivering = (test: Case): void => {
  test('an entry is delivered, with its job', async (t, queue) => {
    const seen: unknown[] = [];
    queue.consume(
      async (taken) => {
        seen.push(taken);
        return 'done';
      },
      { concurrency: 1 },
    );
    await queue.enqueue(entry('e1', 'j1'));
    await until(() => seen.length > 0);
    await quiet();
    t.same(seen, [{ id: 'e1', jobId: 'j1' }], 'once');
  });

  test('an entry waits for the first consumer', async (t, queue) => {
    await queue.enqueue(entry('e1'));
    await quiet();
    const { seen, handler } = collect();
    queue.consume(handler, { concurrency: 1 });
    await until(() => seen.length > 0);
    t.same(seen, ['e1']);
  });

  test('many entries are each delivered once, by any number of consumers', async (t, queue, { peer = queue }) => {
    const { seen, handler } = collect();
    const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
    for (const id of ids.slice(0, 20)) await queue.enqueue(entry(id));
    queue.consume(handler, { concurrency: 3 });
    peer.consume(handler, { concurrency: 1 });
    for (const id of ids.slice(20)) await peer.enqueue(entry(id));
    await until(() => seen.length >= ids.length);
    await quiet();
    t.same([...seen].sort(), [...ids].sort());
  });

  test('as many handlers run at once as the consumer allows, and no more', async (t, queue) => {
    const { passed, open } = gate();
    let running = 0;
    let most = 0;
    let finished = 0;
    const handler: QueueHandler = async () => {
      running += 1;
      most = Math.max(most, running);
      await passed;
      running -= 1;
      finished += 1;
      return 'done';
    };
    queue.consume(handler, { concurrency: 3 });
    for (let index = 0; index < 8; index += 1) await queue.enqueue(entry(`e${index}`));
    await until(() => running === 3);
    await quiet();
    t.equal(running, 3);
    open();
    await until(() => finished === 8);
    t.equal(most, 3);
  });
};

const ignoring = (test: Case): void => {
  test('an id that is still waiting is not added again', async (t, queue) => {
    for (const jobId of ['j1', 'j2', 'j3']) await queue.enqueue(entry('e1', jobId));
    await queue.enqueue(entry('last'));
    const { seen, handler } = collect();
    queue.consume(handler, { concurrency: 1 });
    await until(() => seen.includes('last'));
    await quiet();
    t.equal(seen.filter((id) => id === 'e1').length, 1);
  });

  test('an id that is held is not added again', async (t, queue) => {
    const { passed, open } = gate();
    const seen: string[] = [];
    const handler: QueueHandler = async ({ id }) => {
      seen.push(id);
      await passed;
      return 'done';
    };
    queue.consume(handler, { concurrency: 2 });
    await queue.enqueue(entry('e1'));
    await until(() => seen.length === 1);
    await queue.enqueue(entry('e1'));
    await quiet();
    open();
    await queue.enqueue(entry('last'));
    await until(() => seen.includes('last'));
    await quiet();
    t.same(seen, ['e1', 'last']);
  });

  test('an id that is done may be added again', async (t, queue) => {
    const { seen, handler } = collect();
    queue.consume(handler, { concurrency: 1 });
    await queue.enqueue(entry('e1'));
    await until(() => seen.length === 1);
    // Until the queue has heard of the outcome the id still counts as held.
    await until(async () => {
      await queue.enqueue(entry('e1'));
      return seen.length > 1;
    });
    t.equal(seen[1], 'e1');
  });
};

const delaying = (test: Case): void => {
  test('a delayed entry comes when its time has come, and holds up nobody', async (t, queue) => {
    const times = new Map<string, number>();
    const handler: QueueHandler = async ({ id }) => {
      times.set(id, Date.now());
      return 'done';
    };
    queue.consume(handler, { concurrency: 1 });
    const added = Date.now();
    await queue.enqueue(entry('late'), { delayMs: 400 });
    await queue.enqueue(entry('later'), { delayMs: 60_000 });
    await queue.enqueue(entry('soon'));
    await until(() => times.has('soon') && times.has('late'));
    t.ok(times.get('soon')! < times.get('late')!);
    t.ok(times.get('late')! - added >= 400 - tolerance);
    t.notOk(times.has('later'));
  });

  test('a shorter delay that is added later comes first', async (t, queue) => {
    const { seen, handler } = collect();
    queue.consume(handler, { concurrency: 1 });
    await queue.enqueue(entry('b'), { delayMs: 600 });
    await queue.enqueue(entry('a'), { delayMs: 200 });
    await until(() => seen.length === 2);
    t.same(seen, ['a', 'b']);
  });

  test('a handler may put its entry back for a while', async (t, queue) => {
    const times: number[] = [];
    const handler: QueueHandler = async () => {
      times.push(Date.now());
      return times.length < 3 ? { delayMs: 200 } : 'done';
    };
    queue.consume(handler, { concurrency: 2 });
    await queue.enqueue(entry('e1'));
    await until(() => times.length === 3);
    await quiet();
    t.equal(times.length, 3);
    for (const index of [1, 2]) t.ok(times[index]! - times[index - 1]! >= 200 - tolerance);
  });
};

const failing = (test: Case): void => {
  test('an entry whose handler throws comes back after a second', async (t, queue) => {
    const times: number[] = [];
    const handler: QueueHandler = async () => {
      times.push(Date.now());
      if (times.length === 1) throw new Error('a handler of the test');
      return 'done';
    };
    queue.consume(handler, { concurrency: 1 });
    await queue.enqueue(entry('e1'));
    await until(() => times.length > 1);
    t.ok(times[1]! - times[0]! >= 1000 - tolerance);
    await quiet();
    t.equal(times.length, 2);
  });

  test('an entry whose holder died is delivered again', async (t, queue, { crash }) => {
    const { passed, open } = gate();
    const seen: string[] = [];
    const handler: QueueHandler = async ({ id }) => {
      seen.push(id);
      await passed;
      return 'done';
    };
    queue.consume(handler, { concurrency: 1 });
    await queue.enqueue(entry('held'));
    await queue.enqueue(entry('waiting'));
    await until(() => seen.length === 1);
    const left = await crash();
    const after = collect();
    left.consume(after.handler, { concurrency: 1 });
    await until(() => after.seen.length === 2);
    t.same(seen, ['held']);
    t.same([...after.seen].sort(), ['held', 'waiting']);
    open();
  });
};

const closing = (test: Case): void => {
  test('a consumer that closes waits for its handlers, takes nothing new, and their outcome counts', async (t, queue) => {
    const { passed, open } = gate();
    const seen: string[] = [];
    const handler: QueueHandler = async ({ id }) => {
      seen.push(id);
      await passed;
      return id === 'back' ? { delayMs: 0 } : 'done';
    };
    const consumer = queue.consume(handler, { concurrency: 2 });
    await queue.enqueue(entry('back'));
    await queue.enqueue(entry('done'));
    await until(() => seen.length === 2);
    let closed = false;
    const closing = consumer.close().then(() => {
      closed = true;
    });
    await queue.enqueue(entry('new'));
    await quiet();
    t.equal(closed, false);
    open();
    await closing;
    await quiet();
    t.same([...seen].sort(), ['back', 'done']);
    const after = collect();
    queue.consume(after.handler, { concurrency: 1 });
    await until(() => after.seen.length === 2);
    await quiet();
    t.same([...after.seen].sort(), ['back', 'new']);
  });

  test('one consumer closes and the other goes on', async (t, queue) => {
    const first = collect();
    const second = collect();
    const consumer = queue.consume(first.handler, { concurrency: 1 });
    queue.consume(second.handler, { concurrency: 1 });
    await consumer.close();
    for (const id of ['a', 'b', 'c']) await queue.enqueue(entry(id));
    await until(() => second.seen.length === 3);
    t.same(first.seen, []);
  });

  test('a queue that closes waits for its handlers', async (t, queue) => {
    const { passed, open } = gate();
    const steps: string[] = [];
    const handler: QueueHandler = async () => {
      steps.push('started');
      await passed;
      steps.push('finished');
      return 'done';
    };
    queue.consume(handler, { concurrency: 1 });
    await queue.enqueue(entry('e1'));
    await until(() => steps.length > 0);
    const closing = queue.close().then(() => steps.push('closed'));
    await quiet();
    open();
    await closing;
    t.same(steps, ['started', 'finished', 'closed']);
  });

  test('it answers a ping', async (t, queue) => {
    await t.resolves(queue.ping());
  });
};
