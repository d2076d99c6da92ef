import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { UploadRecord } from '../../src/domain/upload.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliver, engineRig, type RigOptions } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';

const flow: FlowDefinition = {
  flowId: 'one',
  name: 'One',
  nodes: { in: { type: 'file-input', options: { maxFiles: 2 } }, work: { type: 'step' } },
  edges: [{ source: 'in', target: 'work' }],
};
const rig = (t: Parameters<typeof engineRig>[0], options: Pick<RigOptions, 'uploadTtl' | 'wrapRecords'> = {}) =>
  engineRig(t, { flows: [flow], script: (task) => deliver(task, `${task.files.length}`), ...options });
const base = { flowId: 'one', storageId: 'default', clientId: undefined };
const target = { nodeId: 'in', clientId: undefined };

t.test('resume without anything leaves a job waiting whose upload is not complete', async (t) => {
  const { engine } = await rig(t);
  const { id } = await engine.start(base);
  const job = await engine.resume({ ...target, jobId: id });
  t.equal(job.status === 'completed' || job.status === 'failed', false);
});

t.test('init replaces the placeholder, and its last byte runs the flow', async (t) => {
  const { engine, append, until, uploads } = await rig(t);
  const started = await engine.start(base);
  const placeholder = started.tasks[0]?.uploads?.[0]?.id ?? '';
  const operation = { operation: 'init' as const, metadata: { originalName: 'a', mimeType: 'text/plain', size: 3 } };
  await engine.resume({ ...target, jobId: started.id, newData: operation });
  const job = await engine.getJob(started.id, undefined);
  t.equal(job.tasks[0]?.uploads?.length, 1);
  const id = job.tasks[0]?.uploads?.[0]?.id ?? '';
  t.not(id, placeholder);
  await t.rejects(uploads.get(placeholder, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
  await append(id, 'abc');
  t.equal((await until(job.id, 'completed')).tasks[0]?.files?.[0]?.size, 3);
});

t.test('finalize fixes a deferred length, and is idempotent in every state', async (t) => {
  const { engine, append, until } = await rig(t);
  const started = await engine.start(base);
  const uploadId = started.tasks[0]?.uploads?.[0]?.id ?? '';
  await append(uploadId, 'some bytes');
  const newData = { operation: 'finalize' as const, uploadId };
  await engine.resume({ ...target, jobId: started.id, newData });
  const job = await until(started.id, 'completed');
  t.equal(job.tasks[0]?.files?.[0]?.size, 10);
  t.equal((await engine.resume({ ...target, jobId: started.id, newData })).status, 'completed');
  t.equal((await engine.resume({ ...target, jobId: started.id })).status, 'completed');
});

t.test('a raw body is the bytes of the input', async (t) => {
  const { engine, until } = await rig(t);
  const started = await engine.start(base);
  const body = { stream: Readable.from([Buffer.from('raw '), Buffer.from('bytes')]), length: 9 };
  await engine.resume({ ...target, jobId: started.id, body });
  t.equal((await until(started.id, 'completed')).tasks[0]?.files?.[0]?.size, 9);
});

t.test('a complete upload of the client can be named later', async (t) => {
  const { engine, upload, until, keys } = await rig(t);
  const started = await engine.start(base);
  const uploadId = await upload('mine');
  await engine.resume({ ...target, jobId: started.id, newData: { operation: 'upload', uploadId } });
  t.equal((await until(started.id, 'completed')).tasks[0]?.files?.[0]?.owned, false);
  t.strictSame(await keys('uploads/'), [`uploads/${uploadId}`], "the user's upload is not deleted");
});

t.test("the job's own upload goes with the job that has used it up", async (t) => {
  const { engine, append, until, uploads, keys } = await rig(t);
  const metadata = { originalName: 'a', mimeType: 'text/plain', size: 3 };
  const started = await engine.start({ ...base, inputs: { in: { operation: 'init', metadata } } });
  const id = started.tasks[0]?.uploads?.[0]?.id ?? '';
  await append(id, 'abc');
  await until(started.id, 'completed');
  t.strictSame(await keys('uploads/'), []);
  t.match(await uploads.get(id, undefined), { status: 'completed', bytesRemoved: true });
  await t.rejects(uploads.file(id, undefined), { code: 'FILE_NO_LONGER_EXISTS' });
});

t.test('an upload that is deleted under a waiting job fails it, with the input named', async (t) => {
  const { engine, until, uploads, events } = await rig(t);
  const started = await engine.start(base);
  await uploads.remove(started.tasks[0]?.uploads?.[0]?.id ?? '', undefined);
  const job = await until(started.id, 'failed');
  t.match(job.error, { code: 'UPLOAD_FAILED', nodeId: 'in' });
  t.equal((await events(job.id)).at(-1), 'flow_error');
});

t.test('so does one that expires', async (t) => {
  const { engine, until, uploads, events } = await rig(t, { uploadTtl: 1 });
  const started = await engine.start(base);
  await sleep(2);
  await uploads.recover(Date.now());
  const job = await until(started.id, 'failed');
  t.match(job.error, { code: 'UPLOAD_FAILED', nodeId: 'in', message: /not finished in time/ });
  t.equal((await events(job.id)).at(-1), 'flow_error');
});

t.test('and one that is deleted after it was complete, while the input waits for another file', async (t) => {
  const { engine, until, uploads, append } = await rig(t);
  const started = await engine.start(base);
  const link = { flowId: 'one', jobId: started.id, nodeId: 'in' };
  const file = { storageId: 'default', size: 1, type: 'text/plain', flow: link };
  const first = await engine.addInput(file);
  await engine.addInput(file);
  await append(first.id, 'a');
  await uploads.remove(first.id, undefined);
  t.match((await until(started.id, 'failed')).error, { code: 'UPLOAD_FAILED', nodeId: 'in' });
});

t.test('what cannot be resumed says why', async (t) => {
  const { engine } = await rig(t);
  const { id: jobId } = await engine.start(base);
  await t.rejects(engine.resume({ ...target, jobId: 'none' }), { code: 'FLOW_JOB_NOT_FOUND' });
  await t.rejects(engine.resume({ ...target, jobId, nodeId: 'none' }), { code: 'NODE_NOT_FOUND' });
  await t.rejects(engine.resume({ ...target, jobId, nodeId: 'work' }), { code: 'INVALID_JOB_STATE' });
  const elsewhere = { ...target, jobId, clientId: 'somebody' };
  await t.rejects(engine.resume(elsewhere), { code: 'FLOW_JOB_NOT_FOUND' }, "another client's job is unknown");
});

t.test('an upload created with `flow` is one more file of the input, up to its maximum', async (t) => {
  const { engine, until, append } = await rig(t);
  const started = await engine.start(base);
  const link = { flowId: 'one', jobId: started.id, nodeId: 'in' };
  const file = { storageId: 'default', size: 1, type: 'text/plain', flow: link };
  const first = await engine.addInput(file);
  const second = await engine.addInput(file);
  await t.rejects(engine.addInput(file), { code: 'INVALID_JOB_STATE' });
  await t.rejects(engine.addInput({ ...file, flow: { ...link, jobId: 'none' } }), { code: 'FLOW_JOB_NOT_FOUND' });
  await t.rejects(engine.addInput({ ...file, flow: { ...link, nodeId: 'work' } }), { code: 'INVALID_JOB_STATE' });
  await append(second.id, 'b');
  await append(first.id, 'a');
  const job = await until(started.id, 'completed');
  t.equal(job.tasks[0]?.files?.length, 2);
});

const link = (jobId: string) => ({
  ...{ storageId: 'default', size: 1, type: 'text/plain' },
  flow: { flowId: 'one', jobId, nodeId: 'in' },
});

t.test('a file that is added as the input has all that it waited for is waited for too', async (t) => {
  const added = Promise.withResolvers<UploadRecord>();
  let isArmed = true;
  const wrapRecords = interpose<KvStore>((store) => ({
    commit: async (change) => {
      const settles = change.events?.find((event) => event.type === 'node_completed');
      if (isArmed && settles !== undefined) {
        isArmed = false;
        added.resolve(await engine.addInput(link(change.id)));
      }
      return store.commit(change);
    },
  }));
  const { engine, append, until } = await rig(t, { wrapRecords });
  const { id } = await engine.start(base);
  await append((await engine.addInput(link(id))).id, 'a');
  await append((await added.promise).id, 'b');
  t.equal((await until(id, 'completed')).tasks[0]?.files?.length, 2);
});

t.test('one that is added too late is refused, and nothing is left of it', async (t) => {
  let [jobId, first, late] = ['', '', ''];
  const wrapRecords = interpose<KvStore>((store) => ({
    commit: async (change) => {
      const version = await store.commit(change);
      if (first === '' || late !== '' || change.collection !== 'uploads' || change.id === first) return version;
      late = change.id;
      await append(first, 'a');
      await until(jobId, 'completed');
      return version;
    },
  }));
  const { engine, append, until, uploads } = await rig(t, { wrapRecords });
  for (const way of ['addInput', 'resume'] as const) {
    [first, late] = ['', ''];
    const { id } = await engine.start(base);
    jobId = id;
    first = (await engine.addInput(link(id))).id;
    const newData = { operation: 'init' as const, metadata: { mimeType: 'text/plain', size: 1 } };
    const add = async () =>
      way === 'resume' ? engine.resume({ ...target, jobId, newData }) : engine.addInput(link(id));
    await t.rejects(add(), { code: 'INVALID_JOB_STATE' }, way);
    await t.rejects(uploads.get(late, undefined), { code: 'FILE_NO_LONGER_EXISTS' }, way);
  }
});
