/** How a job ends, and what is removed at its end. */
import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { DataStore } from '../../src/ports/data-store.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliver, engineRig, type Script } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import { edgesOf, flowOf, node, startWith, statusOf } from '../support/step-flows.ts';
import { gate, quiet, until as reached } from '../support/wait.ts';

t.test('a job that has all its outputs is complete although its rubbish cannot be removed yet', async (t) => {
  let isBroken = true;
  const wrapData = interpose<DataStore>((store) => ({
    remove: (key) => (isBroken ? Promise.reject(new ServiceError('STORAGE_ERROR', 'for a moment')) : store.remove(key)),
  }));
  const flow = flowOf({ a: node(), b: node() }, edgesOf('in a', 'a b'));
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, task.nodeId), wrapData });
  const job = await rig.until(await startWith(rig), 'completed', 'failed');
  t.match(job, { status: 'completed', leftovers: true });
  t.match(rig.errors, [{ code: 'STORAGE_ERROR' }]);
  isBroken = false;
  await rig.engine.recover(Date.now() + 60_000);
  t.strictSame(await rig.keys('jobs/'), [job.outputs?.['b']?.key], 'recovery removes the rest, but not the output');
  t.equal((await rig.job(job.id)).leftovers, undefined);
});

t.test('a job that is tried again at once loses nothing to the end of its first life', async (t) => {
  const [listed, go] = [gate(), gate()];
  let isBroken = true;
  let lists = 0;
  const wrapData = interpose<DataStore>((store) => ({
    list: async (prefix) => {
      const keys = await store.list(prefix);
      // What the failed life has left, as it sees it; its removal takes its time.
      if (lists++ > 0) return keys;
      listed.open();
      await go.passed;
      return [...keys, ...(await store.list(prefix))];
    },
  }));
  const flow = flowOf({ a: node(), b: node() }, edgesOf('in a', 'a b'), { retries: 0 });
  const script = async (task: Parameters<typeof deliver>[0]) => {
    if (task.nodeId === 'b' && isBroken) throw new ServiceError('INVALID_INPUT', 'not now');
    return deliver(task, task.nodeId);
  };
  const rig = await engineRig(t, { flows: [flow], script, wrapData });
  const id = await startWith(rig);
  await listed.passed;
  isBroken = false;
  const again = reached(async () => (await rig.job(id)).status === 'failed').then(() =>
    rig.engine.retry(id, undefined),
  );
  setTimeout(go.open, 200);
  await again;
  const job = await rig.until(id, 'completed');
  await go.passed;
  await quiet();
  t.strictSame(await rig.keys('jobs/'), [job.outputs?.['b']?.key]);
  t.equal(await rig.read(job.outputs?.['b']?.key ?? ''), 'b');
});

t.test('a failed job that its user had stopped has failed, and is not stopped', async (t) => {
  const [begun, go] = [gate(), gate()];
  const flow = flowOf({ a: node(), b: node() }, edgesOf('in a', 'a b'));
  const script = async () => {
    begun.open();
    await go.passed;
    throw new ServiceError('INVALID_INPUT', 'never');
  };
  const rig = await engineRig(t, { flows: [flow], script });
  const id = await startWith(rig);
  await begun.passed;
  await rig.engine.pause(id, undefined);
  go.open();
  const job = await rig.until(id, 'failed');
  t.strictSame([job.pauseReason, statusOf(job, 'a'), statusOf(job, 'b')], [undefined, 'failed', 'cancelled']);
});

t.test('a failure that comes while the job is being written is not overlooked', async (t) => {
  const skipping = gate();
  const wrapRecords = interpose<KvStore>((store) => ({
    commit: async (change) => {
      const isSkip = change.events?.some((event) => event.type === 'node_skipped' && event.nodeId === 'c');
      if (isSkip) {
        skipping.open();
        await quiet();
      }
      return store.commit(change);
    },
  }));
  const nodes = { b: node('step', { onError: 'skip' }), c: node(), d: node() };
  const flow = flowOf(nodes, edgesOf('in b', 'b c', 'in d'));
  const script: Script = async (task) => {
    if (task.nodeId === 'd') await skipping.passed;
    throw new ServiceError('INVALID_INPUT', 'never');
  };
  const rig = await engineRig(t, { flows: [flow], script, wrapRecords });
  const job = await rig.until(await startWith(rig), 'failed', 'paused', 'completed');
  t.match(job, { status: 'failed', error: { code: 'INVALID_INPUT', nodeId: 'd' } });
});

t.test('stores that do not answer end no job, whatever they were asked for', async (t) => {
  const away = () => Promise.reject(new ServiceError('UNAVAILABLE'));
  const flow = flowOf({ a: node(), b: node() }, edgesOf('in a', 'a b'), { retries: 0 });
  // The first change of a job after the first run of `a` fails, then the second one, and so on, also twice in a row.
  for (const [first, times] of [
    [1, 1],
    [2, 2],
    [3, 1],
    [4, 2],
  ] as const) {
    let [runs, changes] = [0, 0];
    const script: Script = (task) => {
      runs += 1;
      return deliver(task, 'x');
    };
    const rig = await engineRig(t, {
      flows: [flow],
      script,
      wrapRecords: interpose<KvStore>((store) => ({
        commit: (change) => {
          if (runs > 0 && change.collection === 'jobs') changes += 1;
          return changes >= first && changes < first + times ? away() : store.commit(change);
        },
      })),
    });
    const job = await rig.until(await startWith(rig), 'completed', 'failed');
    t.equal(job.status, 'completed', `${first}, ${times} times: ${JSON.stringify(job.error)}`);
    t.ok(changes >= first + times);
    t.equal(rig.errors.length > 0, true, 'and it is told of');
  }
  let left = 3;
  const rig = await engineRig(t, {
    flows: [flow],
    script: (task) => deliver(task, 'x'),
    wrapData: interpose<DataStore>((store) => ({
      publish: (...args) => (--left < 0 ? store.publish(...args) : away()),
    })),
  });
  t.equal((await rig.until(await startWith(rig), 'completed', 'failed')).status, 'completed');
});
