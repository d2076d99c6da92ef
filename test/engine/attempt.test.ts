/** What takes a try of a node, and what does not. */
import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliver, deliverAll, engineRig } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import {
  attemptOf,
  counting,
  edgesOf,
  flowOf,
  node,
  passing,
  startWith,
  statusOf,
  untilAborted,
} from '../support/step-flows.ts';
import { gate, until as reached } from '../support/wait.ts';

t.test('a try that is due does not wait for what else runs', async (t) => {
  const again = gate();
  const { script } = counting(async (task, time, signal) => {
    if (task.nodeId === 'slow') await Promise.race([again.passed, untilAborted(signal)]);
    else if (time === 1) throw passing();
    else again.open();
    return deliver(task, 'x');
  });
  const flow = flowOf({ slow: node(), shaky: node() }, edgesOf('in slow', 'in shaky'), { timeout: 3000 });
  const rig = await engineRig(t, { flows: [flow], script, retryDelay: 200 });
  t.equal((await rig.until(await startWith(rig), 'completed', 'failed')).status, 'completed');
});

t.test('services that stop or are lost take none of the tries that a node has', async (t) => {
  for (const end of ['close', 'abandon'] as const) {
    const runs: string[] = [];
    let begun = gate();
    const flow = flowOf({ a: node() }, edgesOf('in a'), { retries: 1 });
    const open = async (directory?: string) => {
      begun = gate();
      return engineRig(t, {
        flows: [flow],
        ...(directory === undefined ? {} : { directory }),
        script: async (task, signal) => {
          runs.push(task.nodeId);
          begun.open();
          if (runs.length < 4) return untilAborted(signal);
          if (runs.length === 4) throw passing();
          return deliver(task, 'x');
        },
      });
    };
    let rig = await open();
    const id = await startWith(rig);
    for (let lives = 1; lives < 4; lives += 1) {
      await begun.passed;
      await rig[end]();
      rig = await open(rig.directory);
    }
    const job = await rig.until(id, 'completed', 'failed');
    t.strictSame([job.status, attemptOf(job, 'a'), runs.length], ['completed', 5, 5], end);
    await rig.close();
  }
});

t.test('a timeout has one more try, whatever failed before it', async (t) => {
  const { script, runs } = counting(async (task, time, signal) => {
    if (time === 1) throw passing();
    return time === 2 ? untilAborted(signal) : deliver(task, 'x');
  });
  const flow = flowOf({ a: node('step', { timeout: 50, retries: 5 }) }, edgesOf('in a'));
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await startWith(rig), 'completed', 'failed');
  t.strictSame([job.status, runs], ['completed', { a: 3 }]);
});

t.test('a store that does not answer for a moment ends no job, and takes no try', async (t) => {
  for (const event of ['node_started', 'node_completed'] as const) {
    let failures = 0;
    const wrapRecords = interpose<KvStore>((store) => ({
      commit: async (change) => {
        const isOfA = change.events?.some((one) => one.type === event && one.nodeId === 'a');
        if (isOfA && failures++ === 0) throw new ServiceError('UNAVAILABLE');
        return store.commit(change);
      },
    }));
    const flow = flowOf({ a: node('step', { retries: 0, onError: 'skip' }) }, edgesOf('in a'));
    const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x'), wrapRecords });
    const job = await rig.until(await startWith(rig), 'completed', 'failed');
    t.strictSame([job.status, statusOf(job, 'a'), job.warnings], ['completed', 'completed', undefined], event);
    t.match(rig.errors, [{ code: 'UNAVAILABLE' }], 'and the log tells of it');
  }
});

t.test('a node that has done its part takes no try because its neighbour has not', async (t) => {
  const { script, runs } = counting(async (task, time) => {
    if (task.nodeId === 'b' && time < 3) throw passing();
    if (task.nodeId === 'a' && time === 3) throw passing();
    return deliver(task, 'x');
  });
  const flow = flowOf({ a: node('pixel'), b: node('pixel') }, edgesOf('in a', 'a b'), { retries: 2 });
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await startWith(rig), 'completed', 'failed');
  t.strictSame([job.status, runs], ['completed', { a: 4, b: 3 }]);
});

t.test('a node inside a chain is done when its chain is saved, though nobody could write that before', async (t) => {
  let failures = 0;
  const wrapRecords = (store: KvStore): KvStore => ({
    ...store,
    get: store.get,
    commit: async (change) => {
      const isOfA = change.events?.some((event) => event.type === 'node_completed' && event.nodeId === 'a');
      if (isOfA && failures++ === 0) throw new Error('no room for a moment');
      return store.commit(change);
    },
    events: (...args) => store.events(...args),
    due: (...args) => store.due(...args),
    flush: () => store.flush(),
    queue: () => store.queue(),
    owners: () => store.owners(),
  });
  const flow = flowOf({ a: node('pixel'), b: node('pixel') }, edgesOf('in a', 'a b'));
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x'), wrapRecords });
  const job = await rig.until(await startWith(rig), 'completed', 'paused');
  t.strictSame([job.status, statusOf(job, 'a')], ['completed', 'completed']);
  t.equal((await rig.events(job.id)).filter((event) => event === 'node_completed a').length, 1);
});

t.test('files that are handed on are not counted again, those of several chains are counted together', async (t) => {
  const files = (count: number) => Array.from({ length: count }, (_, index) => ({ text: `${index}`, fileName: 'x' }));
  const passes = flowOf({ many: node(), on: node('join'), off: node('join') }, edgesOf('in many', 'many on', 'on off'));
  const first = await engineRig(t, { flows: [passes], script: (task) => deliverAll(task, files(600)) });
  const passed = await first.until(await startWith(first), 'completed', 'failed');
  t.strictSame([passed.status, Object.keys(passed.outputs ?? {}).length], ['completed', 600]);

  const chains = flowOf({ a: node('small'), b: node('small') }, edgesOf('in a', 'in b'));
  const second = await engineRig(t, { flows: [chains], script: (task) => deliverAll(task, files(600)) });
  const failed = await second.until(await startWith(second), 'completed', 'failed');
  t.match(failed.error, { code: 'FILE_TOO_LARGE', nodeId: 'b', details: { limit: 'files', max: 1000, actual: 1201 } });
});

t.test('a file stays for as long as a chain that reads it may have to read it again', async (t) => {
  const [other, crashed] = [gate(), gate()];
  const { script } = counting(async (task, time) => {
    if (task.nodeId === 'b' && time === 1) {
      await other.passed;
      await reached(async () => statusOf(await rig.job(id), 'other') === 'completed');
      // By now whatever could be removed has been.
      await new Promise((resolve) => setTimeout(resolve, 50));
      crashed.open();
      throw passing();
    }
    if (task.nodeId === 'other') {
      await reached(async () => statusOf(await rig.job(id), 'a') === 'completed');
      other.open();
    }
    return deliver(task, `by ${task.nodeId}`);
  });
  const nodes = { source: node(), a: node('pixel'), b: node('pixel'), other: node() };
  const flow = flowOf(nodes, edgesOf('in source', 'source a', 'a b', 'source other'));
  const rig = await engineRig(t, { flows: [flow], script });
  const id = await startWith(rig);
  await crashed.passed;
  const job = await rig.until(id, 'completed', 'failed');
  t.strictSame([job.status, job.error], ['completed', undefined]);
});

t.test('what is behind an error is told of where the job goes on, too', async (t) => {
  const flow = flowOf({ a: node('step', { onError: 'skip', retries: 1 }), b: node() }, edgesOf('in a', 'in b'));
  const { script } = counting(async (task, time) => {
    if (task.nodeId === 'a') throw new Error(`the mistake, time ${time}`);
    if (time === 1) throw new ServiceError('STORAGE_ERROR', undefined, { cause: new Error('the disk is gone') });
    if (time === 2) throw passing();
    return deliver(task, 'x');
  });
  const rig = await engineRig(t, { flows: [flow], script });
  const job = await rig.until(await startWith(rig), 'completed', 'failed');
  t.strictSame([job.status, job.warnings], ['completed', ['a: INTERNAL_ERROR: Something went wrong']]);
  t.strictSame(
    rig.errors.map((error) => (error as Error).message).sort(),
    ['the disk is gone', 'the mistake, time 1', 'the mistake, time 2'],
    'but not of one that has said all there is to say',
  );
});
