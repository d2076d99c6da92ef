/** What ownership of uploads is, whoever keeps it. */
import t, { type Test } from 'tap';
import type { Owner, Owners } from '../../src/ports/owners.ts';
import type { Fixture, Make } from '../support/fixture.ts';
import { quiet } from '../support/wait.ts';

type Case = (title: string, run: (t: Test, owners: Owners, fixture: Fixture<Owners>) => Promise<void>) => void;

/** Runs the suite; `name` is shown in its titles. */
export const testOwners = (name: string, make: Make<Owners>): void => {
  const test: Case = (title, run) => {
    void t.test(`${name}: ${title}`, async (t) => {
      const fixture = await make();
      t.teardown(fixture.teardown);
      await run(t, fixture.driver, fixture);
    });
  };
  taking(test);
  freeing(test);
  draining(test);
};

const take = async (owners: Owners, id: string): Promise<Owner> => {
  const owner = await owners.take(id);
  if (owner === undefined) throw new Error(`${id} has an owner`);
  return owner;
};

const taking = (test: Case): void => {
  test('the first gets the upload, the second does not, another upload is free', async (t, owners, {
    peer = owners,
  }) => {
    const owner = await take(owners, 'a');
    t.equal(owner.stopped, undefined);
    t.equal(owner.isAwaited(), false);
    t.equal(await peer.take('a'), undefined);
    await take(peer, 'b');
  });

  test('of many at once one gets it', async (t, owners, { peer = owners }) => {
    const taken = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? owners : peer).take('a')));
    t.equal(taken.filter((owner) => owner !== undefined).length, 1);
  });

  test('what is released can be taken again, and a second release takes it from nobody', async (t, owners) => {
    const first = await take(owners, 'a');
    first.release();
    await take(owners, 'a');
    first.release();
    t.equal(await owners.take('a'), undefined);
  });
};

const freeing = (test: Case): void => {
  test('what has no owner is free', async (t, owners) => {
    t.equal(await owners.free('a', { ask: 'now', waitMs: 1000 }), true);
  });

  test('asked now, the owner is stopped once, and is waited for', async (t, owners, { peer = owners }) => {
    const owner = await take(owners, 'a');
    let stops = 0;
    owner.onStop(() => {
      stops += 1;
    });
    const freed: boolean[] = [];
    const waiting = [0, 1].map(async () => freed.push(await peer.free('a', { ask: 'now', waitMs: 5000 })));
    while (stops === 0) await quiet();
    t.equal(owner.stopped, 'displaced');
    t.strictSame(freed, []);
    owner.release();
    await Promise.all(waiting);
    t.strictSame(freed, [true, true]);
    t.equal(stops, 1);
  });

  test('asked to wait, the owner goes on and knows of it', async (t, owners, { peer = owners }) => {
    const owner = await take(owners, 'a');
    const freed = peer.free('a', { ask: 'wait', waitMs: 5000 });
    while (!owner.isAwaited()) await quiet();
    t.equal(owner.stopped, undefined);
    owner.release();
    t.equal(await freed, true);
  });

  test('who waits in vain is told so, and the owner waits for nobody any more', async (t, owners) => {
    const owner = await take(owners, 'a');
    t.equal(await owners.free('a', { ask: 'wait', waitMs: 20 }), false);
    t.equal(owner.isAwaited(), false);
    t.equal(await owners.free('a', { ask: 'now', waitMs: 20 }), false, 'also one who does not let go');
  });
};

const draining = (test: Case): void => {
  test('draining stops all owners, waits for them and refuses new ones', async (t, owners) => {
    const all = [await take(owners, 'a'), await take(owners, 'b')];
    let drained = false;
    const draining = owners.drain().then(() => {
      drained = true;
    });
    await quiet();
    t.strictSame(
      all.map(({ stopped }) => stopped),
      ['draining', 'draining'],
    );
    t.equal(drained, false);
    for (const owner of all) owner.release();
    await draining;
    await t.rejects(owners.take('c'), { code: 'UNAVAILABLE', retryAfter: 1 });
  });
};
