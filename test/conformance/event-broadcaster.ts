/** What every event broadcaster does: a wake-up for those who watch, on every replica. */
import t, { type Test } from 'tap';
import type { EventBroadcaster } from '../../src/ports/event-broadcaster.ts';
import type { Fixture, Make } from '../support/fixture.ts';
import { quiet, until } from '../support/wait.ts';

type Run = (t: Test, events: EventBroadcaster, fixture: Fixture<EventBroadcaster>) => Promise<void>;

/** Counts its calls. A wake-up may be doubled, so only none and some can be told apart. */
const counter = () => {
  const listener = () => {
    listener.calls += 1;
  };
  listener.calls = 0;
  return listener;
};

/** Runs the suite; `name` is shown in its titles. */
export const testEventBroadcaster = (name: string, make: Make<EventBroadcaster>): void => {
  const test = (title: string, run: Run): void => {
    void t.test(`${name}: ${title}`, async (t) => {
      const fixture = await make();
      t.teardown(fixture.teardown);
      await run(t, fixture.driver, fixture);
    });
  };

  test('who has subscribed is woken, on every replica', async (t, events, { peer = events }) => {
    const here = counter();
    const there = counter();
    await events.subscribe('uploads', 'u1', here);
    await peer.subscribe('uploads', 'u1', there);
    await events.notify('uploads', 'u1');
    await until(() => here.calls > 0 && there.calls > 0);
    t.pass('both were woken');
  });

  test('each notification wakes, not only the first', async (t, events) => {
    const listener = counter();
    await events.subscribe('jobs', 'j1', listener);
    for (let round = 0; round < 3; round += 1) {
      await quiet();
      const before = listener.calls;
      await events.notify('jobs', 'j1');
      await until(() => listener.calls > before);
    }
    t.ok(listener.calls >= 3);
  });

  test('nobody else is woken: not another id, not another topic', async (t, events) => {
    const others = [counter(), counter(), counter()];
    const listener = counter();
    await events.subscribe('uploads', 'u2', others[0]!);
    await events.subscribe('jobs', 'u1', others[1]!);
    await events.subscribe('uploads', 'u', others[2]!);
    await events.subscribe('uploads', 'u1', listener);
    await events.notify('uploads', 'u1');
    await until(() => listener.calls > 0);
    await quiet();
    t.same(
      others.map(({ calls }) => calls),
      [0, 0, 0],
    );
  });

  test('nobody needs to listen', async (t, events) => {
    await t.resolves(events.notify('uploads', 'nobody'));
  });

  test('a subscription ends, and only that one', async (t, events) => {
    const ended = counter();
    const kept = counter();
    const end = await events.subscribe('uploads', 'u1', ended);
    await events.subscribe('uploads', 'u1', kept);
    end();
    end();
    await quiet();
    await events.notify('uploads', 'u1');
    await until(() => kept.calls > 0);
    await quiet();
    t.equal(ended.calls, 0);
  });

  test('one function may be subscribed twice, and each subscription ends by itself', async (t, events) => {
    const listener = counter();
    const endFirst = await events.subscribe('uploads', 'u1', listener);
    const endSecond = await events.subscribe('uploads', 'u1', listener);
    endFirst();
    await quiet();
    await events.notify('uploads', 'u1');
    await until(() => listener.calls > 0);
    endSecond();
    await quiet();
    const before = listener.calls;
    await events.notify('uploads', 'u1');
    await quiet();
    t.equal(listener.calls, before);
  });

  test('after the last subscription a new one is woken again', async (t, events) => {
    const end = await events.subscribe('uploads', 'u1', counter());
    end();
    const listener = counter();
    await events.subscribe('uploads', 'u1', listener);
    end();
    await quiet();
    await events.notify('uploads', 'u1');
    await until(() => listener.calls > 0);
    t.ok(listener.calls > 0, 'although the first one was ended once more');
  });

  test('a listener that throws harms neither the others nor the notifier', async (t, events) => {
    const warnings: Error[] = [];
    // A driver may report it as a warning of the process; the test wants none on the terminal.
    t.intercept(process, 'emitWarning', { value: (warning: Error) => warnings.push(warning) });
    const fail = () => {
      throw new Error('a listener of the test');
    };
    const listener = counter();
    await events.subscribe('uploads', 'u1', fail);
    await events.subscribe('uploads', 'u1', listener);
    await events.subscribe('uploads', 'u1', fail);
    await t.resolves(events.notify('uploads', 'u1'));
    await until(() => listener.calls > 0);
    t.ok(listener.calls > 0);
    await quiet();
  });

  test('a listener may subscribe and end subscriptions while it is called', async (t, events) => {
    const late = counter();
    const first = counter();
    let end = () => {};
    const listener = () => {
      first();
      end();
      void events.subscribe('uploads', 'u1', late);
    };
    end = await events.subscribe('uploads', 'u1', listener);
    await events.notify('uploads', 'u1');
    await until(() => first.calls > 0);
    await quiet();
    await events.notify('uploads', 'u1');
    await until(() => late.calls > 0);
    t.equal(first.calls > 0 && late.calls > 0, true);
  });

  test('it answers a ping, until it is closed', async (t, events) => {
    await t.resolves(events.ping());
    await events.close();
    await t.rejects(events.ping());
  });

  test('nobody is woken after the close', async (t, events, { peer = events }) => {
    const listener = counter();
    await events.subscribe('uploads', 'u1', listener);
    await events.close();
    await peer.notify('uploads', 'u1').catch(() => {});
    await quiet();
    t.equal(listener.calls, 0);
  });
};
