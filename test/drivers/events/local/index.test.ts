/** The broadcaster of a single process: the port's suite, then what only it can promise. */
import t from 'tap';
import { localEvents } from '../../../../src/drivers/events/local/index.ts';
import { testEventBroadcaster } from '../../../conformance/event-broadcaster.ts';

testEventBroadcaster('local', async () => {
  const driver = localEvents();
  return { driver, teardown: driver.close };
});

const tick = () => new Promise((resolve) => setImmediate(resolve));

void t.test('listeners do not run inside the call of the notifier', async (t) => {
  const events = localEvents();
  const order: string[] = [];
  await events.subscribe('jobs', 'j1', () => order.push('listener'));
  const notified = events.notify('jobs', 'j1');
  order.push('notifier');
  await notified;
  await tick();
  t.same(order, ['notifier', 'listener'], 'and each one runs once');
});

void t.test('a subscription that ends right after the notification is not called', async (t) => {
  const events = localEvents();
  let calls = 0;
  const end = await events.subscribe('jobs', 'j1', () => {
    calls += 1;
  });
  const notified = events.notify('jobs', 'j1');
  end();
  await notified;
  await tick();
  t.equal(calls, 0);
});

void t.test('a close comes before the calls of a notification', async (t) => {
  const events = localEvents();
  let calls = 0;
  await events.subscribe('jobs', 'j1', () => {
    calls += 1;
  });
  const notified = events.notify('jobs', 'j1');
  await events.close();
  await notified;
  await tick();
  t.equal(calls, 0);
});

void t.test('what a listener throws, or rejects with, becomes a warning of the process', async (t) => {
  const events = localEvents();
  const warnings: unknown[] = [];
  t.intercept(process, 'emitWarning', { value: (warning: unknown) => warnings.push(warning) });
  const error = new Error('thrown');
  await events.subscribe('jobs', 'j1', () => {
    throw error;
  });
  await events.subscribe('jobs', 'j1', () => Promise.reject('no error at all'));
  await events.notify('jobs', 'j1');
  await tick();
  t.equal(warnings[0], error);
  t.equal(warnings[1], 'no error at all');
  t.equal(warnings.length, 2);
});

void t.test('a closed broadcaster takes no subscriptions', async (t) => {
  const events = localEvents();
  await events.close();
  await t.rejects(
    events.subscribe('jobs', 'j1', () => {}),
    { code: 'UNAVAILABLE' },
  );
});
