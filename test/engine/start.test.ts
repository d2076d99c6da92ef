import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import { deliver, engineRig } from '../support/engine-rig.ts';
import { counting, edgesOf, flowOf, node, statusOf } from '../support/step-flows.ts';

const flow: FlowDefinition = {
  flowId: 'two-inputs',
  name: 'Two inputs',
  input: { allowedMimeTypes: ['text/*'], maxFileSize: 100 },
  nodes: {
    left: { type: 'file-input' },
    right: { type: 'file-input', options: { maxFiles: 2, maxFileSize: 10 } },
    join: { type: 'step' },
  },
  edges: [
    { source: 'left', target: 'join' },
    { source: 'right', target: 'join' },
  ],
};

const rig = (t: Parameters<typeof engineRig>[0]) =>
  engineRig(t, { flows: [flow], script: (task) => deliver(task, `${task.files.length} files`) });
const base = { flowId: 'two-inputs', storageId: 'default', clientId: undefined };
const init = (size: number, mimeType = 'text/plain') => ({
  operation: 'init' as const,
  metadata: { originalName: 'a.txt', mimeType, size },
});

t.test('a job that waits is paused, and its uploads exist already', async (t) => {
  const { engine, events } = await rig(t);
  const job = await engine.start({ ...base, inputs: { left: init(5), right: [init(3), init(4)] } });
  t.match(job, { status: 'paused', pauseReason: 'uploads' });
  t.strictSame(
    job.tasks.map((task) => [task.nodeId, task.status, task.uploads?.length]),
    [
      ['left', 'paused', 1],
      ['right', 'paused', 2],
      ['join', 'pending', undefined],
    ],
  );
  t.strictSame(await events(job.id), ['flow_started', 'flow_paused']);
  const uploads = await engine.inputUploads(job);
  t.strictSame(
    [...uploads.values()].map(({ size, flow: link }) => [size, link?.nodeId]),
    [
      [5, 'left'],
      [3, 'right'],
      [4, 'right'],
    ],
  );
});

t.test('an input that need not be there is skipped when it is left out, and what only it leads to', async (t) => {
  const optional = flowOf(
    { more: { type: 'file-input', options: { required: false } }, a: node(), b: node(), both: node() },
    edgesOf('in a', 'more b', 'a both', 'b both'),
  );
  const { script, runs } = counting((task) => deliver(task, 'x'));
  const { engine, until, events } = await engineRig(t, { flows: [optional], script });
  const job = await engine.start({ ...base, flowId: 'f', inputs: { in: init(2), more: [] } });
  t.match(job, { status: 'paused' });
  t.strictSame([statusOf(job, 'more'), statusOf(job, 'b')], ['skipped', 'pending']);
  t.strictSame(await events(job.id), ['flow_started', 'node_skipped more', 'flow_paused']);
  await engine.cancel(job.id, undefined);

  const alone = await engine.start({ ...base, flowId: 'f', inputs: { in: init(0), more: init(0) } });
  t.strictSame([...(await engine.inputUploads(alone)).values()].length, 2, 'it takes a file that is announced');
  t.match(await until(alone.id, 'completed'), { outputs: { both: {} } });
  const { id } = await engine.start({ ...base, flowId: 'f', inputs: { in: init(0) } });
  t.strictSame([statusOf(await until(id, 'completed'), 'b'), runs], ['skipped', { a: 2, b: 1, both: 2 }]);
});

t.test('a job of which nothing is required ends at once without', async (t) => {
  const optional = flowOf({ in: { type: 'file-input', options: { required: false } }, a: node() }, edgesOf('in a'));
  const { engine, until } = await engineRig(t, { flows: [optional], script: (task) => deliver(task, 'x') });
  const { id } = await engine.start({ ...base, flowId: 'f' });
  t.match(await until(id, 'completed'), { warnings: ['NO_OUTPUTS'], outputs: {} });
});

t.test('an input that is left out gets an upload of deferred length', async (t) => {
  const { engine } = await rig(t);
  const job = await engine.start(base);
  const uploads = [...(await engine.inputUploads(job)).values()];
  t.strictSame(
    uploads.map(({ size, status }) => [size, status]),
    [
      [undefined, 'created'],
      [undefined, 'created'],
    ],
  );
});

t.test('the last byte of the last input resumes the job by itself', async (t) => {
  const { engine, append, until, events } = await rig(t);
  const job = await engine.start({ ...base, inputs: { left: init(5), right: init(3) } });
  const [left, right] = [...(await engine.inputUploads(job)).keys()];
  await append(left ?? '', 'hello');
  await append(right ?? '', 'abc');
  const done = await until(job.id, 'completed');
  t.equal(done.outputs?.['join']?.size, '2 files'.length);
  const log = await events(job.id);
  t.strictSame(log.slice(0, 2), ['flow_started', 'flow_paused']);
  t.equal(log.at(-1), 'flow_complete');
  t.equal(log.filter((event) => event === 'flow_complete').length, 1);
});

t.test('what cannot start creates nothing', async (t) => {
  const { engine, keys, upload } = await rig(t);
  const cases: [string, object][] = [
    ['UNSUPPORTED_FORMAT', { left: init(5, 'image/png') }],
    ['FILE_TOO_LARGE', { left: init(5), right: init(11) }],
    ['FILE_TOO_LARGE', { left: init(101) }],
    ['VALIDATION_ERROR', { left: [init(1), init(1)] }],
    ['NODE_NOT_FOUND', { nowhere: init(1) }],
    ['NODE_NOT_FOUND', { join: init(1) }],
    ['STORAGE_NOT_FOUND', { left: { ...init(5), storageId: 'elsewhere' } }],
    ['FILE_NOT_FOUND', { left: { operation: 'upload', uploadId: 'none' } }],
  ];
  const before = await keys('');
  for (const [code, inputs] of cases) {
    await t.rejects(engine.start({ ...base, inputs } as Parameters<typeof engine.start>[0]), { code }, code);
  }
  await t.rejects(engine.start({ ...base, flowId: 'none' }), { code: 'FLOW_NOT_FOUND' });
  await t.rejects(engine.start({ ...base, flowId: 'constructor' }), { code: 'FLOW_NOT_FOUND' });
  await t.rejects(engine.start({ ...base, storageId: 'none' }), { code: 'STORAGE_NOT_FOUND' });
  t.strictSame(await keys(''), before);
  const other = await upload('mine');
  t.equal(
    (await engine.start({ ...base, inputs: { left: { operation: 'upload', uploadId: other } } })).status,
    'paused',
  );
});

t.test('bytes that are not what the input takes fail the job, although they were declared otherwise', async (t) => {
  const { engine, upload, until } = await rig(t);
  const big = await upload('x'.repeat(50));
  const started = await engine.start({
    ...base,
    inputs: { left: { operation: 'upload', uploadId: big }, right: { operation: 'upload', uploadId: big } },
  });
  const job = await until(started.id, 'failed');
  t.match(job.error, { code: 'FILE_TOO_LARGE', nodeId: 'right' });
});

t.test('start parameters are kept with the job, and wrong ones create nothing', async (t) => {
  const params = { type: 'object', properties: { width: { type: 'integer', default: 640 } } } as const;
  const { engine, job, keys } = await engineRig(t, {
    flows: [{ ...flow, params }],
    script: (task) => deliver(task, 'x'),
  });
  const before = await keys('');
  await t.rejects(engine.start({ ...base, params: { width: 'wide' } }), { code: 'VALIDATION_ERROR' });
  t.strictSame(await keys(''), before);
  t.strictSame((await job((await engine.start(base)).id)).params, { width: 640 });
  t.strictSame((await engine.start({ ...base, params: { width: 5 } })).params, { width: 5 });
});
