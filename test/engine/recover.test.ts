import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import { deliver, engineRig } from '../support/engine-rig.ts';
import { tamper } from '../support/tamper.ts';
import { until as reached } from '../support/wait.ts';

const flow: FlowDefinition = {
  flowId: 'one',
  name: 'One',
  nodes: { in: { type: 'file-input' }, work: { type: 'step' } },
  edges: [{ source: 'in', target: 'work' }],
};
const base = { flowId: 'one', storageId: 'default', clientId: undefined };
const script = (task: Parameters<typeof deliver>[0]) => deliver(task, 'done');
/** How far the service looks ahead when it starts. */
const ahead = () => Date.now() + 15_000;
const far = () => Date.now() + 3_600_000;

t.test('a job that lost its queue entry runs after all', async (t) => {
  const first = await engineRig(t, { flows: [flow], script, size: 0 });
  const inputs = { in: { operation: 'upload' as const, uploadId: await first.upload('hi') } };
  const { id } = await first.engine.start({ ...base, inputs });
  await first.close();
  await tamper(first, async (kvStore) => {
    const consumer = kvStore.queue().consume(async () => 'done', { concurrency: 1 });
    await reached(async () => (await kvStore.due('jobs', far(), 10)).length === 1);
    await consumer.close();
  });
  const second = await engineRig(t, { flows: [flow], script, directory: first.directory });
  await second.engine.recover(ahead());
  t.equal((await second.until(id, 'completed')).outputs?.['work']?.size, 4);
});

t.test('a job that was not told of its complete upload hears of it', async (t) => {
  const first = await engineRig(t, { flows: [flow], script, size: 0 });
  const metadata = { originalName: 'a', mimeType: 'text/plain', size: 2 };
  const job = await first.engine.start({ ...base, inputs: { in: { operation: 'init', metadata } } });
  const uploadId = job.tasks[0]?.uploads?.[0]?.id ?? '';
  await first.append(uploadId, 'hi');
  await first.close();
  await tamper(first, async (kvStore) => {
    const consumer = kvStore.queue().consume(async () => 'done', { concurrency: 1 });
    await consumer.close();
    const upload = await kvStore.get('uploads', uploadId);
    if (upload === undefined) throw new Error('no upload');
    const { value, version: expectedVersion } = upload;
    await kvStore.commit({ collection: 'uploads', id: uploadId, value, expectedVersion, dueAt: 1 });
  });
  const second = await engineRig(t, { flows: [flow], script, directory: first.directory });
  await second.uploads.recover(far());
  await second.until(job.id, 'completed');
  t.strictSame(second.errors, []);
});

t.test('the files of a job that failed just before a crash are removed', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script, size: 0 });
  const job = await rig.engine.start(base);
  await rig.close();
  await tamper(rig, async (kvStore) => {
    const entry = await kvStore.get('jobs', job.id);
    if (entry === undefined) throw new Error('no job');
    const value = { ...entry.value, status: 'cancelled' as const, leftovers: true as const };
    await kvStore.commit({ collection: 'jobs', id: job.id, value, expectedVersion: entry.version, dueAt: 1 });
  });
  const second = await engineRig(t, { flows: [flow], script, directory: rig.directory });
  await second.engine.recover(Date.now());
  t.equal((await second.job(job.id)).leftovers, undefined);
  const uploadId = job.tasks[0]?.uploads?.[0]?.id ?? '';
  await t.rejects(second.uploads.get(uploadId, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('jobs that cannot be swept do not stand before others', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script, size: 0 });
  const job = await rig.engine.start(base);
  await rig.close();
  const ended = { ...job, status: 'cancelled' as const, leftovers: true as const };
  await tamper(rig, async (kvStore) => {
    for (let index = 0; index < 100; index += 1) {
      const id = `broken-${index}`;
      const value = { ...ended, id, storageId: 'gone' };
      await kvStore.commit({ collection: 'jobs', id, value, expectedVersion: 0, dueAt: 1 });
    }
    await kvStore.commit({
      collection: 'jobs',
      id: 'later',
      value: { ...ended, id: 'later' },
      expectedVersion: 0,
      dueAt: 2,
    });
  });
  const second = await engineRig(t, { flows: [flow], script, size: 0, directory: rig.directory });
  await second.engine.recover(Date.now());
  t.equal(second.errors.length, 100);
  await second.engine.recover(Date.now());
  t.equal((await second.job('later')).leftovers, undefined);
  t.equal(second.errors.length, 100, 'and they have their time');
});

t.test('idempotency keys whose time is over are forgotten, and no others', async (t) => {
  const first = await engineRig(t, { flows: [flow], script, size: 0 });
  await first.close();
  await tamper(first, async (kvStore) => {
    for (const [id, expiresAt] of [
      ['old', Date.now() - 1],
      ['new', Date.now() + 10_000],
    ] as const) {
      const value = { jobId: 'j', request: 'hash', until: 0, expiresAt };
      await kvStore.commit({ collection: 'claims', id, value, expectedVersion: 0, dueAt: expiresAt });
    }
  });
  const second = await engineRig(t, { flows: [flow], script, size: 0, directory: first.directory });
  await second.engine.recover(far());
  await second.close();
  await tamper(second, async (kvStore) => {
    t.strictSame(await kvStore.due('claims', far(), 10), ['new']);
  });
  t.strictSame(second.errors, []);
});
