import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import { deliver, engineRig, type Script } from '../support/engine-rig.ts';
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
