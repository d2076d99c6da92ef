import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { JobOutput, JobRecord, TaskRecord } from '../../src/domain/job.ts';
import type { UploadRecord } from '../../src/domain/upload.ts';
import { createLinks } from '../../src/http/links.ts';
import { viewFlow, viewJob, viewOutputs, viewUpload } from '../../src/http/views.ts';
import type { DataStoreCapabilities } from '../../src/ports/data-store.ts';
import { sampleJob, sampleUpload } from '../support/sample-records.ts';

const links = createLinks('/sluice');
const contextWith = (uploads: readonly UploadRecord[] = []) => ({
  uploads: { capabilities: () => ({ type: 'local', capabilities: {} as DataStoreCapabilities }) },
  engine: { inputUploads: async () => new Map(uploads.map((upload) => [upload.id, upload])) },
  links,
});

/** Fails when some field, at any depth, is null or undefined. */
const hasGaps = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.values(value).some((inner) => hasGaps(inner)));

t.test('an upload shows what is known of it and nothing else', (t) => {
  const view = viewUpload(contextWith(), sampleUpload({ size: 10, offset: 5, status: 'uploading' }));
  t.strictSame(view, {
    id: 'upload-1',
    offset: 5,
    size: 10,
    status: 'uploading',
    metadata: { size: 10, fileName: 'photo.jpg', type: 'image/jpeg' },
    storage: { id: 'default', type: 'local' },
    creationDate: '2026-11-20T12:00:00.000Z',
  });
  t.notOk(hasGaps(view));
  t.end();
});

t.test('neither its place in the store nor its owner is told', (t) => {
  const view = viewUpload(contextWith(), sampleUpload({ clientId: 'ann', sink: { part: 1 }, key: 'uploads/secret' }));
  t.notMatch(JSON.stringify(view), /ann|secret|part/);
  t.end();
});

t.test('what a client gave as metadata does not hide the facts', (t) => {
  const custom = { fileName: 'other', type: 'x/y', size: 99, album: 'x' };
  const { metadata } = viewUpload(contextWith(), sampleUpload({ size: 10, custom }));
  t.strictSame(metadata, { fileName: 'photo.jpg', type: 'image/jpeg', size: 10, album: 'x' });
  t.end();
});

t.test('a length that is not known yet is said to be deferred', (t) => {
  const view = viewUpload(contextWith(), sampleUpload());
  t.equal(view.sizeIsDeferred, true);
  t.notOk(Object.hasOwn(view, 'size'));
  t.notOk(Object.hasOwn(view.metadata, 'size'));
  t.end();
});

t.test('a completed upload has an address, as long as its bytes are there', (t) => {
  const completed = sampleUpload({ size: 10, offset: 10, status: 'completed', detectedType: 'image/png' });
  t.match(viewUpload(contextWith(), completed), { url: '/sluice/api/files/upload-1', detectedType: 'image/png' });
  t.notOk('url' in viewUpload(contextWith(), { ...completed, bytesRemoved: true }));
  t.notOk('url' in viewUpload(contextWith(), { ...completed, status: 'failed' }));
  t.end();
});

t.test('checksum, flow and error are shown where there are any', (t) => {
  const flow = { flowId: 'f', nodeId: 'n', jobId: 'j' };
  const error = { code: 'CANCELLED', message: 'The upload was deleted' } as const;
  t.match(viewUpload(contextWith(), sampleUpload({ checksum: 'abc', flow, error })), {
    checksum: 'abc',
    checksumAlgorithm: 'sha256',
    flow,
    error,
  });
  t.end();
});

t.test('the time that an upload has left is shown while it can use it', (t) => {
  const expiresAt = '2026-11-21T12:00:00.000Z';
  t.equal(viewUpload(contextWith(), sampleUpload({ expiresAt })).expiresAt, expiresAt);
  t.notOk('expiresAt' in viewUpload(contextWith(), sampleUpload({ expiresAt, status: 'failed' })));
  t.end();
});

const file = { key: 'jobs/j/n/0-abc.webp', storageId: 'default', size: 7, mimeType: 'image/webp', fileName: 'a.webp' };
const output = (change: Partial<JobOutput> = {}): JobOutput => ({ ...file, owned: true, nodeId: 'small', ...change });

t.test('outputs have addresses: of the job, or of the upload that they are', (t) => {
  const job = sampleJob({
    outputs: { small: output({ meta: { width: 4 } }), same: output({ uploadId: 'u', owned: false, nodeId: 'same' }) },
  });
  const facts = { size: 7, mimeType: 'image/webp', fileName: 'a.webp' };
  t.strictSame(viewOutputs(job, links), {
    small: { url: '/sluice/api/files/job-1.small', ...facts, meta: { width: 4 }, nodeId: 'small' },
    same: { url: '/sluice/api/files/u', ...facts, nodeId: 'same' },
  });
  t.equal(viewOutputs(sampleJob(), links), undefined);
  t.end();
});

t.test('a job shows its tasks with the uploads that they wait for', async (t) => {
  const waiting: TaskRecord = {
    nodeId: 'photo',
    status: 'paused',
    attempt: 0,
    uploads: [{ id: 'upload-1', owned: true }],
  };
  const job = sampleJob({ status: 'paused', pauseReason: 'uploads', tasks: [waiting] });
  const view = await viewJob(contextWith([sampleUpload()]), job);
  t.match(view, { id: 'job-1', jobId: 'job-1', status: 'paused', pauseReason: 'uploads', progress: 0 });
  t.match(view.tasks[0], {
    nodeId: 'photo',
    status: 'paused',
    attempt: 0,
    result: { id: 'upload-1', status: 'created' },
  });
  t.notOk('results' in (view.tasks[0] ?? {}), 'one is no list');
  t.notOk(hasGaps(view));
});

t.test('several uploads of an input are a list, and one that is gone is left out', async (t) => {
  const uploads = ['a', 'b', 'gone'].map((id) => ({ id, owned: true }));
  const job = sampleJob({ tasks: [{ nodeId: 'photo', status: 'paused', attempt: 0, uploads }] });
  const view = await viewJob(contextWith([sampleUpload({ id: 'a' }), sampleUpload({ id: 'b' })]), job);
  t.match(view.tasks[0], { result: { id: 'a' }, results: [{ id: 'a' }, { id: 'b' }] });
  t.equal(view.tasks[0]?.results?.length, 2);
});

t.test('a job whose uploads are forgotten tells what it knows itself', async (t) => {
  const uploads = [{ id: 'gone', owned: true }];
  const tasks: TaskRecord[] = [
    { nodeId: 'photo', status: 'completed', attempt: 1, uploads, files: [output()] },
    { nodeId: 'other', status: 'failed', attempt: 1, uploads, error: { code: 'UPLOAD_FAILED', message: 'x' } },
  ];
  const view = await viewJob(contextWith(), sampleJob({ status: 'failed', tasks }));
  t.match(view.tasks[0], { result: { fileName: 'a.webp', size: 7 } });
  t.match(view.tasks[1], { status: 'failed', error: { code: 'UPLOAD_FAILED' } });
  t.notOk(hasGaps(view));
});

t.test('a job that has ended tells its outputs as a list too, and how long it ran', async (t) => {
  const job: JobRecord = sampleJob({
    status: 'completed',
    clientId: 'ann',
    tasks: [
      { nodeId: 'small', status: 'completed', attempt: 1, files: [output()] },
      { nodeId: 'rest', status: 'skipped', attempt: 0 },
    ],
    outputs: { small: output() },
    startedAt: '2026-11-20T12:00:01.000Z',
    endedAt: '2026-11-20T12:00:02.000Z',
    runningMs: 900,
    warnings: ['w'],
  });
  const view = await viewJob(contextWith(), job);
  t.match(view, { progress: 1, duration: 900, warnings: ['w'], result: [{ nodeId: 'small' }], clientId: 'ann' });
  t.match(view.tasks[0]?.result, { size: 7, mimeType: 'image/webp', fileName: 'a.webp' });
  t.notMatch(JSON.stringify(view), 'jobs/j/n', 'keys of the store stay inside');
  t.notOk(hasGaps(view));
});

t.test('a flow shows its nodes with the names of their kinds', (t) => {
  const flow: FlowDefinition = {
    flowId: 'f',
    name: 'F',
    nodes: { photo: { type: 'file-input' }, small: { type: 'resize', options: { width: 1 }, keepOutput: true } },
    edges: [{ source: 'photo', target: 'small' }],
  };
  t.strictSame(
    viewFlow(flow, (kind) => `<${kind}>`),
    {
      ...flow,
      nodes: {
        photo: { type: 'file-input', name: '<file-input>' },
        small: { type: 'resize', name: '<resize>', options: { width: 1 }, keepOutput: true },
      },
    },
  );
  t.end();
});
