/** Flows that let only so many of their jobs run at once, over one process and over several replicas. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import { redisEvents } from '../../src/drivers/events/redis/index.ts';
import { redisKvStore } from '../../src/drivers/kv/redis/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { createPlaces, type Place, type Places } from '../../src/engine/places.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { realClock } from '../support/clock.ts';
import { deliver, engineRig, type Rig, type RigOptions, type Script } from '../support/engine-rig.ts';
import { clean, freshAddress, skip } from '../support/redis.ts';
import { sampleJob } from '../support/sample-records.ts';
import { edgesOf, flowOf, node, startWith, untilAborted } from '../support/step-flows.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { gate, quiet, until } from '../support/wait.ts';

const limited = flowOf({ step: node() }, edgesOf('in step'), { concurrency: 2 });

/** Counts what runs, and holds it up until the gate opens. */
const counted = () => {
  const { passed, open } = gate();
  const seen = { running: 0, most: 0, done: 0 };
  const script: Script = async (task, signal) => {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    await Promise.race([passed, untilAborted(signal)]);
    seen.running -= 1;
    seen.done += 1;
    return deliver(task, 'x');
  };
  return { seen, script, open };
};

const runLimited = async (t: Test, rigs: readonly Rig[], { seen, open }: ReturnType<typeof counted>): Promise<void> => {
  const ids: string[] = [];
  for (let index = 0; index < 6; index += 1) ids.push(await startWith(rigs[index % rigs.length]!));
  await until(() => seen.running === 2);
  await quiet();
  t.equal(seen.running, 2, 'although there is room for more workers');
  const jobs = await Promise.all(ids.map((id) => rigs[0]!.job(id)));
  t.equal(jobs.filter(({ status }) => status === 'pending').length, 4, 'the others wait');
  t.ok(jobs.every((job) => job.status === 'running' || job.startedAt === undefined));
  open();
  for (const id of ids) t.equal((await rigs[0]!.until(id, 'completed')).tasks[1]?.attempt, 1);
  t.equal(seen.most, 2);
  t.same(
    rigs.flatMap(({ errors }) => errors),
    [],
  );
};

t.test('no more jobs of a flow run than it allows', async (t) => {
  const work = counted();
  await runLimited(t, [await engineRig(t, { flows: [limited], script: work.script, size: 6 })], work);
});

t.test('nor do they over two replicas at one Redis', { skip }, async (t) => {
  const work = counted();
  const rigs = await replicas(t, { flows: [limited], script: work.script, size: 3 });
  await runLimited(t, rigs, work);
});

/** Two of them over one Redis and one directory. */
const replicas = async (t: Test, options: RigOptions): Promise<readonly [Rig, Rig]> => {
  const address = freshAddress();
  t.teardown(() => clean(address));
  const directory = await temporaryDirectory(t);
  const open = async (): Promise<Rig> => {
    const eventBroadcaster = redisEvents(address);
    t.teardown(() => eventBroadcaster.close());
    const shared = { kvStore: await redisKvStore(address), eventBroadcaster };
    return engineRig(t, { ...options, directory, shared });
  };
  return [await open(), await open()];
};

t.test('a limit that is raised is for the jobs that wait, one that is taken away too', async (t) => {
  const work = counted();
  const flows: FlowDefinition[] = [{ ...limited, concurrency: 1 }];
  const rig = await engineRig(t, { flows, script: work.script, size: 6 });
  for (let index = 0; index < 4; index += 1) await startWith(rig);
  await until(() => work.seen.running === 1);
  flows[0] = { ...limited, concurrency: 3 };
  await until(() => work.seen.running === 3);
  await quiet();
  t.equal(work.seen.running, 3);
  const { concurrency: _, ...free } = limited;
  flows[0] = free;
  await until(() => work.seen.running === 4);
  work.open();
  await until(() => work.seen.done === 4);
});

t.test('a job that is stopped or ended leaves its place to the next one', async (t) => {
  const { script, open } = counted();
  const rig = await engineRig(t, { flows: [{ ...limited, concurrency: 1 }], script });
  const first = await startWith(rig);
  await rig.until(first, 'running');
  const second = await startWith(rig);
  await rig.engine.cancel(first, undefined);
  await rig.until(second, 'running');
  open();
  await rig.until(second, 'completed');
  await rig.until(await startWith(rig), 'completed');
});

const stores: Readonly<Record<string, (t: Test) => Promise<KvStore>>> = {
  sqlite: async (t) => {
    const path = join(await temporaryDirectory(t), 'kv.db');
    return sqliteKvStore({ path, durability: 'process', clock: realClock });
  },
  ...(skip === false && {
    redis: async (t: Test) => {
      const address = freshAddress();
      t.teardown(() => clean(address));
      return redisKvStore(address);
    },
  }),
};

const isPlace = (taken: Place | { readonly delayMs: number }): taken is Place => 'renew' in taken;

for (const [name, openStore] of Object.entries(stores)) {
  /** The places of as many replicas as there are clocks. */
  const open = async (t: Test, concurrency: number, clocks = [realClock]): Promise<readonly Places[]> => {
    const kvStore = await openStore(t);
    t.teardown(() => kvStore.close());
    const flows = () => ({ f: { ...limited, concurrency } });
    const onError = (error: unknown) => t.error(error);
    return clocks.map((clock) => createPlaces({ kvStore, clock, flows, onError }));
  };
  const job = sampleJob({ flowId: 'f' });

  t.test(`${name}: of many that come at once as many have a place as there are`, async (t) => {
    const [one, other] = await open(t, 3, [realClock, realClock]);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one! : other!).take(job, `e${index}`)),
    );
    const places = taken.filter(isPlace);
    t.equal(places.length, 3);
    await Promise.all(places.map((place) => Promise.all([place.renew(), place.release()])));
    const again = await Promise.all(['a', 'b', 'c'].map((entry) => one!.take(job, entry)));
    t.ok(again.every(isPlace), 'what is given back at the moment of its renewal is given back');
  });

  t.test(`${name}: a place lasts as long as it is renewed, and another entry of the same flow waits`, async (t) => {
    let now = 1_000_000;
    const [places] = await open(t, 1, [{ ...realClock, now: () => now }]);
    const place = await places!.take(job, 'e1');
    t.ok(isPlace(place));
    t.ok(isPlace(await places!.take(job, 'e1')), 'the entry that comes again has it still');
    now += 9000;
    if (isPlace(place)) await place.renew();
    now += 9000;
    t.match(await places!.take(job, 'e2'), { delayMs: Number });
    now += 1000;
    t.ok(isPlace(await places!.take(job, 'e2')), 'ten seconds after its last renewal it is free');
  });

  t.test(`${name}: those that wait come a second later, and not all at once`, async (t) => {
    const [places] = await open(t, 1, [{ ...realClock, now: () => 5000 }]);
    await places!.take(job, 'e');
    const delays: unknown[] = [];
    for (let index = 0; index < 3; index += 1) delays.push(await places!.take(job, `e${index}`));
    t.same(delays, [{ delayMs: 1000 }, { delayMs: 1010 }, { delayMs: 1020 }]);
  });
}
