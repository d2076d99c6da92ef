import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { EventBroadcaster } from '../../src/ports/event-broadcaster.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliver, engineRig, type Script } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import { attemptOf, edgesOf, flowOf, node, startWith, untilAborted } from '../support/step-flows.ts';
import { tamper } from '../support/tamper.ts';
import { gate, until as reached } from '../support/wait.ts';

const edge = (source: string, target: string) => ({ source, target });
const step = (name: string) => ({ type: 'step', options: { name } });
const flow: FlowDefinition = {
  flowId: 'two',
  name: 'Two',
  nodes: { in: { type: 'file-input' }, a: step('a'), b: step('b') },
  edges: [edge('in', 'a'), edge('a', 'b')],
};
const base = { flowId: 'two', storageId: 'default', clientId: undefined };

t.test('a job that is stopped finishes what runs and begins nothing, until it is resumed', async (t) => {
  const [started, go] = [gate(), gate()];
  const ran: unknown[] = [];
  const script: Script = async (task) => {
    ran.push(task.options['name']);
    started.open();
    if (task.options['name'] === 'a') await go.passed;
    return deliver(task, 'x');
  };
  const rig = await engineRig(t, { flows: [flow], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await started.passed;
  t.match(await rig.engine.pause(id, undefined), { status: 'paused', pauseReason: 'user' });
  t.match(await rig.engine.pause(id, undefined), { status: 'paused', pauseReason: 'user' }, 'twice is once');
  go.open();
  for (;;) {
    const job = await rig.job(id);
    if (job.lease === undefined) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const stopped = await rig.job(id);
  t.strictSame(
    [stopped.status, ...stopped.tasks.map(({ status }) => status)],
    ['paused', 'completed', 'completed', 'pending'],
  );
  t.equal(ran.length, 1, 'whichever of them was ready first');
  await rig.engine.recover(Date.now() + 3_600_000);
  t.equal((await rig.engine.unpause(id, undefined)).pauseReason, undefined);
  await rig.until(id, 'completed');
  t.strictSame(ran, ['a', 'b']);
  t.strictSame(
    (await rig.events(id)).filter((type) => type.startsWith('flow')),
    ['flow_started', 'flow_paused', 'flow_resumed', 'flow_complete'],
  );
});

t.test('an upload that completes meanwhile is not lost', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x') });
  const metadata = { originalName: 'a', mimeType: 'text/plain', size: 2 };
  const { id, tasks } = await rig.engine.start({ ...base, inputs: { in: { operation: 'init', metadata } } });
  await rig.engine.pause(id, undefined);
  await rig.append(tasks[0]?.uploads?.[0]?.id ?? '', 'hi');
  t.match(await rig.job(id), { status: 'paused', pauseReason: 'user' });
  await rig.engine.unpause(id, undefined);
  await rig.until(id, 'completed');
});

t.test('a job that waits for uploads still waits when it is resumed', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x') });
  const { id, tasks } = await rig.engine.start(base);
  t.match(await rig.engine.unpause(id, undefined), { pauseReason: 'uploads' }, 'it was not stopped');
  await rig.engine.pause(id, undefined);
  await rig.engine.unpause(id, undefined);
  for (;;) {
    const job = await rig.job(id);
    if (job.pauseReason === 'uploads') break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const uploadId = tasks[0]?.uploads?.[0]?.id ?? '';
  await rig.engine.resume({ ...base, jobId: id, nodeId: 'in', newData: { operation: 'finalize', uploadId } });
  await rig.until(id, 'completed');
});

t.test('a job that is stopped can be cancelled, and one that has ended cannot be stopped', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x') });
  const { id } = await rig.engine.start(base);
  await rig.engine.pause(id, undefined);
  t.equal((await rig.engine.cancel(id, undefined)).status, 'cancelled');
  await t.rejects(rig.engine.pause(id, undefined), { code: 'INVALID_JOB_STATE' });
  await t.rejects(rig.engine.unpause(id, undefined), { code: 'INVALID_JOB_STATE' });
  await t.rejects(rig.engine.pause('none', undefined), { code: 'FLOW_JOB_NOT_FOUND' });
});

t.test('what waits for a worker when the job is stopped does not begin', async (t) => {
  const [begun, go] = [gate(), gate()];
  const ran: string[] = [];
  const script: Script = async (task) => {
    ran.push(task.nodeId);
    begun.open();
    await go.passed;
    return deliver(task, 'x');
  };
  const wide = flowOf({ a: node(), b: node(), c: node() }, edgesOf('in a', 'in b', 'in c'));
  const rig = await engineRig(t, { flows: [wide], script, size: 1 });
  const id = await startWith(rig);
  await begun.passed;
  await rig.engine.pause(id, undefined);
  go.open();
  await reached(async () => (await rig.job(id)).lease === undefined);
  t.equal(ran.length, 1, 'whichever of them was ready first');
  await rig.engine.unpause(id, undefined);
  t.strictSame(
    (await rig.until(id, 'completed')).tasks.map(({ attempt }) => attempt),
    [1, 1, 1, 1],
  );
});

t.test('a job that was stopped when its service was killed goes on at once when it is resumed', async (t) => {
  const begun = gate();
  const script: Script = async (_task, signal) => {
    begun.open();
    return untilAborted(signal);
  };
  const first = await engineRig(t, { flows: [flow], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await first.upload('hi') } };
  const { id } = await first.engine.start({ ...base, inputs });
  await begun.passed;
  await first.engine.pause(id, undefined);
  await first.abandon();
  const second = await engineRig(t, {
    flows: [flow],
    script: (task) => deliver(task, 'x'),
    directory: first.directory,
  });
  // The next life finds the entry of the last one, and leaves the job alone.
  await reached(async () => (await second.job(id)).lease === undefined);
  t.match(await second.job(id), { status: 'paused', pauseReason: 'user' });
  await second.engine.unpause(id, undefined);
  const before = performance.now();
  await second.until(id, 'completed');
  t.ok(performance.now() - before < 2000);
});

t.test('a node that needs no worker begins once, though the job is stopped and resumed as it begins', async (t) => {
  let left = 2;
  const wrapRecords = interpose<KvStore>((store) => ({
    commit: async (change) => {
      const begins = change.events?.some((event) => event.type === 'node_started' && event.nodeId === 'j');
      if (left === 2 && begins) {
        await rig.engine.pause(id, undefined);
        left = 1;
      }
      return store.commit(change);
    },
    get: async (collection, key) => {
      const entry = await store.get(collection, key);
      // The holder has just read that the job was stopped; by the time of its next look that is over.
      if (left === 1 && collection === 'jobs') {
        left = 0;
        await rig.engine.unpause(id, undefined);
      }
      return entry;
    },
  }));
  const wrapEvents = interpose<EventBroadcaster>(() => ({ notify: async () => {} }));
  const passing = flowOf({ j: node('join') }, edgesOf('in j'));
  const rig = await engineRig(t, { flows: [passing], script: async () => [], wrapRecords, wrapEvents });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const id = 'job';
  await rig.engine.start({ flowId: 'f', storageId: 'default', clientId: undefined, inputs, jobId: id });
  const job = await rig.until(id, 'completed', 'paused');
  t.strictSame([job.status, attemptOf(job, 'j')], ['completed', 1]);
});

t.test('a job whose holder has died is taken up when its lease ends, as soon as it is resumed', async (t) => {
  const begun = gate();
  const script: Script = async (_task, signal) => {
    begun.open();
    return untilAborted(signal);
  };
  const first = await engineRig(t, { flows: [flow], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await first.upload('hi') } };
  const { id } = await first.engine.start({ ...base, inputs });
  await begun.passed;
  await first.engine.pause(id, undefined);
  await first.abandon();
  await tamper(first, async (kvStore) => {
    // Its entry is somebody else's, who has not come to it.
    const consumer = kvStore.queue().consume(async () => 'done', { concurrency: 1 });
    await consumer.close();
    const entry = await kvStore.get('jobs', id);
    if (entry === undefined) throw new Error('no job');
    const value = { ...entry.value, lease: { entry: 'lost', until: Date.now() + 1000 } };
    await kvStore.commit({ collection: 'jobs', id, value, expectedVersion: entry.version });
  });
  const second = await engineRig(t, {
    flows: [flow],
    script: (task) => deliver(task, 'x'),
    directory: first.directory,
  });
  await second.engine.unpause(id, undefined);
  await second.until(id, 'completed');
});

t.test('a job that nobody resumes fails in the end, and can be tried again', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x'), retention: { pause: 1 } });
  const { id, tasks } = await rig.engine.start(base);
  await rig.engine.pause(id, undefined);
  await reached(async () => Date.now() > ((await rig.job(id)).pausedUntil ?? 0));
  await rig.engine.recover(Date.now());
  t.match(await rig.job(id), {
    status: 'failed',
    error: { code: 'TIMEOUT', nodeId: 'in', message: /nobody has resumed it/ },
    pauseReason: undefined,
    pausedUntil: undefined,
  });
  t.strictSame((await rig.events(id)).slice(-2), ['node_failed in', 'flow_error']);
  await rig.engine.retry(id, undefined);
  const uploadId = tasks[0]?.uploads?.[0]?.id ?? '';
  await rig.append(uploadId, 'hi');
  await rig.engine.resume({ ...base, jobId: id, nodeId: 'in', newData: { operation: 'finalize', uploadId } });
  await rig.until(id, 'completed');
});

t.test('one whose time is not over, or that still comes to its checkpoint, is left alone', async (t) => {
  const [begun, go] = [gate(), gate()];
  const script: Script = async (task) => {
    begun.open();
    await go.passed;
    return deliver(task, 'x');
  };
  const rig = await engineRig(t, { flows: [flow], script, retention: { pause: 1 } });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await begun.passed;
  await rig.engine.pause(id, undefined);
  await rig.engine.recover(Date.now() + 60_000);
  t.equal((await rig.job(id)).status, 'paused');
  go.open();
  await reached(async () => (await rig.job(id)).lease === undefined);
  await rig.engine.unpause(id, undefined);
  t.equal((await rig.until(id, 'completed')).pausedUntil, undefined);
  const patient = await engineRig(t, { flows: [flow], script });
  const other = await patient.engine.start(base);
  await patient.engine.pause(other.id, undefined);
  await patient.engine.recover(Date.now() + 15_000);
  t.equal((await patient.job(other.id)).status, 'paused');
});
