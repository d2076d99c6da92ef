import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { DataStore } from '../../src/ports/data-store.ts';
import { deliver, engineRig, type Script } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import { until as reached } from '../support/wait.ts';

const edge = (source: string, target: string) => ({ source, target });
const step = (name: string, settings = {}) => ({ type: 'step', options: { name }, ...settings });
const flow: FlowDefinition = {
  flowId: 'line',
  name: 'Line',
  retries: 0,
  nodes: { in: { type: 'file-input' }, a: step('a'), b: step('b'), c: step('c') },
  edges: [edge('in', 'a'), edge('a', 'b'), edge('b', 'c')],
};
const base = { flowId: 'line', storageId: 'default', clientId: undefined };

/** Fails at the node as long as `failing` holds it. */
const failing = (nodes: Set<string>) => {
  const ran: string[] = [];
  const script: Script = async (task) => {
    const name = String(task.options['name']);
    ran.push(name);
    if (nodes.has(name)) throw new ServiceError('STORAGE_ERROR', 'the disk is gone');
    return deliver(task, `from ${name}`);
  };
  return { ran, script };
};

t.test('a failed job is tried again from its last finished node', async (t) => {
  const broken = new Set(['c']);
  const { ran, script } = failing(broken);
  const rig = await engineRig(t, { flows: [flow], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await rig.until(id, 'failed');
  await reached(async () => (await rig.job(id)).leftovers === undefined);
  await rig.engine.retry(id, undefined);
  await rig.until(id, 'failed');
  broken.clear();
  const again = await rig.engine.retry(id, undefined);
  t.equal(again.error, undefined);
  const job = await rig.until(id, 'completed');
  t.strictSame(ran, ['a', 'b', 'c', 'c', 'c']);
  t.equal(job.tasks.at(-1)?.attempt, 3, 'tries are counted on');
  t.strictSame(Object.keys(job.outputs ?? {}), ['c']);
  t.strictSame(
    (await rig.events(id)).filter((type) => type.startsWith('flow')),
    ['flow_started', 'flow_error', 'flow_resumed', 'flow_error', 'flow_resumed', 'flow_complete'],
  );
  t.strictSame(await rig.keys(`jobs/${id}/`), [job.outputs?.['c']?.key], 'nothing else is left');
  await t.rejects(rig.engine.retry(id, undefined), { code: 'INVALID_JOB_STATE' });
});

t.test('nodes whose files are gone run again', async (t) => {
  const broken = new Set(['c']);
  const { ran, script } = failing(broken);
  const rig = await engineRig(t, { flows: [flow], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  const failed = await rig.until(id, 'failed');
  await reached(async () => (await rig.job(id)).leftovers === undefined);
  await rig.removeFile(failed.tasks[2]?.files?.[0]?.key ?? '');
  broken.clear();
  await rig.engine.retry(id, undefined);
  await rig.until(id, 'completed');
  t.strictSame(ran, ['a', 'b', 'c', 'a', 'b', 'c'], 'the file of a went when b had read it');
});

t.test('a job whose upload is gone, or whose time is over, is not tried again', async (t) => {
  const { script } = failing(new Set(['a']));
  const rig = await engineRig(t, { flows: [flow], script, retention: { retry: 1 } });
  const metadata = { originalName: 'a', mimeType: 'text/plain', size: 2 };
  const start = async () => {
    const { id, tasks } = await rig.engine.start({ ...base, inputs: { in: { operation: 'init', metadata } } });
    const uploadId = tasks[0]?.uploads?.[0]?.id ?? '';
    await rig.append(uploadId, 'hi');
    await rig.until(id, 'failed');
    return { id, uploadId };
  };
  const first = await start();
  await rig.uploads.remove(first.uploadId, undefined);
  await t.rejects(rig.engine.retry(first.id, undefined), { code: 'FILE_NO_LONGER_EXISTS', details: { nodeId: 'in' } });

  const second = await start();
  await reached(async () => (await rig.job(second.id)).leftovers === undefined);
  await rig.engine.recover(Date.now() + 60_000);
  t.equal((await rig.job(second.id)).swept, true);
  t.strictSame(await rig.keys(''), []);
  await t.rejects(rig.engine.retry(second.id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('a job is removed with all that it has made when its results are kept for a while only', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: failing(new Set()).script, retention: { result: 1 } });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await rig.until(id, 'completed');
  await new Promise((resolve) => setTimeout(resolve, 5));
  await rig.engine.recover(Date.now());
  await t.rejects(rig.job(id), { code: 'FLOW_JOB_NOT_FOUND' });
  t.strictSame(await rig.keys('jobs/'), []);
  t.equal((await rig.keys('uploads/')).length, 1, "the user's own upload stays");
});

t.test('a failed job that is being removed is not tried again', async (t) => {
  let removed = '';
  let answer: unknown;
  const wrapData = interpose<DataStore>((store) => ({
    list: async (prefix) => {
      const id = removed;
      removed = '';
      if (id !== '') answer = await rig.engine.retry(id, undefined).catch((error: unknown) => error);
      return store.list(prefix);
    },
  }));
  const { script } = failing(new Set(['b']));
  const rig = await engineRig(t, { flows: [flow], script, wrapData, retention: { result: 1 } });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await rig.until(id, 'failed');
  await new Promise((resolve) => setTimeout(resolve, 5));
  removed = id;
  await rig.engine.recover(Date.now());
  t.match(answer, { code: 'FILE_NO_LONGER_EXISTS' });
  await t.rejects(rig.job(id), { code: 'FLOW_JOB_NOT_FOUND' });
});

t.test('a node that may fail is skipped with a warning, and so is what it alone feeds', async (t) => {
  const { script } = failing(new Set(['b']));
  const nodes = { ...flow.nodes, b: step('b', { onError: 'skip' }), d: step('d') };
  const branched = { ...flow, nodes, edges: [...flow.edges, edge('a', 'd')] };
  const rig = await engineRig(t, { flows: [branched], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  const job = await rig.until(id, 'completed');
  t.strictSame(
    job.tasks.map(({ nodeId, status }) => `${nodeId} ${status}`),
    ['in completed', 'a completed', 'b skipped', 'c skipped', 'd completed'],
  );
  t.strictSame(job.warnings, ['b: STORAGE_ERROR: the disk is gone']);
  t.strictSame(Object.keys(job.outputs ?? {}), ['d']);
  t.strictSame(await rig.keys(`jobs/${id}/`), [job.outputs?.['d']?.key]);
});

t.test('what was skipped for its failure is still told of after another try of the job', async (t) => {
  const broken = new Set(['b', 'd']);
  const { script } = failing(broken);
  const nodes = { ...flow.nodes, b: step('b', { onError: 'skip' }), d: step('d') };
  const rig = await engineRig(t, { flows: [{ ...flow, nodes, edges: [...flow.edges, edge('a', 'd')] }], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  const failed = await rig.until(id, 'failed');
  broken.clear();
  await rig.engine.retry(id, undefined);
  const job = await rig.until(id, 'completed');
  t.strictSame(job.warnings, failed.warnings);
});

t.test('a node whose process dies again and again fails, however many tries it has', async (t) => {
  let tries = 0;
  const script: Script = async () => {
    tries += 1;
    throw new ServiceError('NODE_CRASHED');
  };
  const rig = await engineRig(t, { flows: [{ ...flow, retries: 9 }], script });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  const job = await rig.until(id, 'failed');
  t.match(job.error, { code: 'NODE_CRASHED', nodeId: 'a' });
  t.equal(tries, 3);
});

t.test('what a failed job has left is not swept while it is tried again', async (t) => {
  const broken = new Set(['c']);
  let [isBroken, retried] = [true, false];
  const wrapData = interpose<DataStore>((store) => ({
    list: async (prefix) => {
      if (isBroken) throw new ServiceError('STORAGE_ERROR');
      if (!retried) {
        // Somebody has it tried again as its leftovers are about to be removed.
        retried = true;
        await rig.engine.retry(id, undefined);
        await rig.until(id, 'completed');
      }
      return store.list(prefix);
    },
  }));
  const rig = await engineRig(t, { flows: [flow], script: failing(broken).script, wrapData });
  const inputs = { in: { operation: 'upload' as const, uploadId: await rig.upload('hi') } };
  const { id } = await rig.engine.start({ ...base, inputs });
  await rig.until(id, 'failed');
  broken.clear();
  isBroken = false;
  await rig.engine.recover(Date.now() + 60_000);
  retried = true;
  if ((await rig.job(id)).status === 'failed') await rig.engine.retry(id, undefined);
  const job = await rig.until(id, 'completed');
  t.equal(await rig.read(job.outputs?.['c']?.key ?? ''), 'from c');
});
