import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { DataStore } from '../../src/ports/data-store.ts';
import { deliver, engineRig, type Script } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import { edgesOf, flowOf, node, startWith, statusOf, untilAborted } from '../support/step-flows.ts';
import { gate, until as reached } from '../support/wait.ts';

const flow: FlowDefinition = {
  flowId: 'one',
  name: 'One',
  nodes: { in: { type: 'file-input' }, work: { type: 'step' } },
  edges: [{ source: 'in', target: 'work' }],
};
const base = { flowId: 'one', storageId: 'default', clientId: undefined };

t.test('cancelling stops the node that runs, and nothing is left', async (t) => {
  const started = gate();
  let stopped = false;
  const script: Script = (_task, signal) => {
    started.open();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stopped = true;
        reject(signal.reason);
      });
    });
  };
  const rig = await engineRig(t, { flows: [flow], script });
  const metadata = { originalName: 'a', mimeType: 'text/plain', size: 3 };
  const job = await rig.engine.start({ ...base, inputs: { in: { operation: 'init', metadata } } });
  await rig.append(job.tasks[0]?.uploads?.[0]?.id ?? '', 'abc');
  await started.passed;
  const cancelled = await rig.engine.cancel(job.id, undefined);
  t.strictSame(
    [cancelled.status, ...cancelled.tasks.map((task) => task.status)],
    ['cancelled', 'completed', 'cancelled'],
  );
  await reached(() => stopped);
  await reached(async () => (await rig.keys('')).length === 0);
  t.equal((await rig.events(job.id)).at(-1), 'flow_cancelled');
  t.equal((await rig.engine.cancel(job.id, undefined)).status, 'cancelled', 'a second time changes nothing');
  t.strictSame(rig.errors, []);
});

t.test('cancelling a waiting job gives up its uploads', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, '') });
  const job = await rig.engine.start(base);
  await rig.engine.cancel(job.id, undefined);
  await t.rejects(rig.uploads.get(job.tasks[0]?.uploads?.[0]?.id ?? '', undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('a job that has ended stays as it ended, and an unknown one is 404', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, 'x') });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await rig.until(id, 'completed');
  t.equal((await rig.engine.cancel(id, undefined)).status, 'completed');
  await t.rejects(rig.engine.cancel('none', undefined), { code: 'FLOW_JOB_NOT_FOUND' });
});

t.test('a job is cancelled although its rubbish cannot be removed yet', async (t) => {
  let isBroken = true;
  const wrapData = interpose<DataStore>((store) => ({
    list: (prefix) =>
      isBroken ? Promise.reject(new ServiceError('STORAGE_ERROR', 'for a moment')) : store.list(prefix),
  }));
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, ''), wrapData });
  const { id } = await rig.engine.start(base);
  t.equal((await rig.engine.cancel(id, undefined)).status, 'cancelled');
  t.match(rig.errors, [{ code: 'STORAGE_ERROR' }]);
  isBroken = false;
  await rig.engine.recover(Date.now() + 60_000);
  t.equal((await rig.job(id)).leftovers, undefined);
});

t.test('what has ended in a worker only is cancelled with the job', async (t) => {
  const begun = gate();
  const script: Script = async (task, signal) => {
    if (task.nodeId === 'a') return deliver(task, 'x');
    begun.open();
    return untilAborted(signal);
  };
  const chain = flowOf({ a: node('pixel'), b: node('pixel') }, edgesOf('in a', 'a b'));
  const rig = await engineRig(t, { flows: [chain], script });
  const id = await startWith(rig);
  await begun.passed;
  await reached(async () => statusOf(await rig.job(id), 'a') === 'completed');
  const job = await rig.engine.cancel(id, undefined);
  t.strictSame([statusOf(job, 'in'), statusOf(job, 'a'), statusOf(job, 'b')], ['completed', 'cancelled', 'cancelled']);
});
