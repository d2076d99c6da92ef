import t from 'tap';
import { systemClock } from '../../src/drivers/clock.ts';
import { createPinDefinition, forgetDefinition } from '../../src/engine/definitions.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliver, engineRig } from '../support/engine-rig.ts';
import { edgesOf, flowOf, node, startWith } from '../support/step-flows.ts';

const flow = flowOf({ a: node() }, edgesOf('in a'));
const hour = 3_600_000;

const open = async (t: Parameters<typeof engineRig>[0]) => {
  let records: KvStore | undefined;
  const wrapRecords = (store: KvStore) => {
    records = store;
    return store;
  };
  const retention = { result: 1000 };
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x'), wrapRecords, retention });
  if (records === undefined) throw new Error('no records');
  return { rig, kvStore: records };
};

t.test('a definition is kept while a job has it, and removed some time after the last one', async (t) => {
  const { rig, kvStore } = await open(t);
  const { definitionHash, id } = await rig.until(await startWith(rig), 'completed');
  const known = async () => (await kvStore.get('definitions', definitionHash)) !== undefined;
  await rig.engine.recover(Date.now() + 2 * hour);
  t.ok(await known(), 'its job is there');
  t.strictSame(await kvStore.due('definitions', Date.now() + hour / 2, 10), [], 'and it is looked at an hour later');
  await kvStore.remove('jobs', id);
  await rig.engine.recover(Date.now());
  t.ok(await known(), 'it is not due');
  await rig.engine.recover(Date.now() + 2 * hour);
  t.notOk(await known());
  t.equal((await rig.until(await startWith(rig), 'completed')).definitionHash, definitionHash, 'it comes again');
  t.strictSame(rig.errors, []);
});

t.test('a start keeps a definition that is about to be removed, and does not write it each time', async (t) => {
  const { kvStore } = await open(t);
  let now = Date.now();
  const deps = { kvStore, clock: { ...systemClock, now: () => now } };
  const pin = createPinDefinition(deps);
  const hash = await pin(flow);
  const version = async () => (await kvStore.get('definitions', hash))?.version;
  await pin(flow);
  t.equal(await version(), 1);
  now += 11 * 60_000;
  await pin(flow);
  t.equal(await version(), 2);
  // Another replica pins it as it is looked at.
  const racing: KvStore = Object.create(kvStore, {
    isPinned: {
      value: async () => {
        await createPinDefinition(deps)(flow);
        return false;
      },
    },
  });
  await forgetDefinition({ ...deps, kvStore: racing }, hash);
  t.equal(await version(), 3, 'it stays');
  await forgetDefinition(deps, 'none');
});
