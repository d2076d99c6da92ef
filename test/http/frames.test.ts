import t from 'tap';
import type { TaskStatus } from '../../src/domain/job.ts';
import { jobFrame, uploadFrame } from '../../src/http/frames.ts';
import { createLinks } from '../../src/http/links.ts';
import { sampleJob, sampleUpload } from '../support/sample-records.ts';

const links = createLinks('/sluice');
const at = { seq: 3, timestamp: '2026-11-20T12:00:00.000Z' };

t.test('the frames of an upload', (t) => {
  const upload = sampleUpload({ size: 10, offset: 5 });
  const base = { ...at, uploadId: 'upload-1' };
  t.strictSame(uploadFrame({ type: 'upload_started', ...at }, upload, links), {
    ...base,
    type: 'upload_started',
    fileName: 'photo.jpg',
    size: 10,
  });
  t.strictSame(uploadFrame({ type: 'progress', ...at }, upload, links), {
    ...base,
    type: 'upload_progress',
    progress: 0.5,
    bytesUploaded: 5,
    size: 10,
  });
  t.strictSame(uploadFrame({ type: 'upload_complete', ...at }, upload, links), {
    ...base,
    type: 'upload_complete',
    url: '/sluice/api/files/upload-1',
  });
  const error = { code: 'CANCELLED', message: 'The upload was deleted' } as const;
  t.strictSame(uploadFrame({ type: 'upload_error', error, ...at }, upload, links), {
    ...base,
    type: 'upload_error',
    error,
  });
  t.end();
});

t.test('progress has no share while the length is unknown, and an empty file is all there', (t) => {
  const deferred = uploadFrame({ type: 'progress', ...at }, sampleUpload({ offset: 5 }), links);
  t.equal(deferred['bytesUploaded'], 5);
  t.notOk('progress' in deferred || 'size' in deferred);
  t.equal(uploadFrame({ type: 'progress', ...at }, sampleUpload({ size: 0 }), links)['progress'], 1);
  t.end();
});

t.test('the progress of a node is as far as the record says', (t) => {
  const job = sampleJob({
    progressed: { seq: 3, at: at.timestamp, nodeId: 'a' },
    tasks: [{ nodeId: 'a', status: 'running', attempt: 1, progress: 0.25 }],
  });
  const frame = { ...at, type: 'node_progress', jobId: 'job-1', nodeId: 'a', nodeType: 'kind of a', progress: 0.25 };
  t.strictSame(
    jobFrame({ type: 'progress', ...at }, job, links, (nodeId) => `kind of ${nodeId}`),
    frame,
  );
  const shareOf = (status: TaskStatus) =>
    jobFrame({ type: 'progress', ...at }, { ...job, tasks: [{ nodeId: 'a', status, attempt: 1 }] }, links, () => '')[
      'progress'
    ];
  t.strictSame([shareOf('completed'), shareOf('retrying')], [1, 0], 'when it is done or begins anew');
  t.end();
});

t.test('the frames of a job name it and its flow, those of a node the node and its kind', (t) => {
  const kindOf = (nodeId: string) => `kind of ${nodeId}`;
  t.strictSame(jobFrame({ type: 'flow_paused', ...at }, sampleJob(), links, kindOf), {
    ...at,
    type: 'flow_paused',
    jobId: 'job-1',
    flowId: 'flow-1',
  });
  const error = { code: 'TIMEOUT', message: 'late', nodeId: 'a' } as const;
  t.strictSame(jobFrame({ type: 'node_retrying', nodeId: 'a', attempt: 2, error, ...at }, sampleJob(), links, kindOf), {
    ...at,
    type: 'node_retrying',
    jobId: 'job-1',
    nodeId: 'a',
    nodeType: 'kind of a',
    attempt: 2,
    error,
  });
  t.match(jobFrame({ type: 'flow_error', error, ...at }, sampleJob(), links, kindOf), { jobId: 'job-1', error });
  t.end();
});

t.test('the end of a job carries its outputs and how long it ran', (t) => {
  const file = { key: 'k', storageId: 'default', size: 1, mimeType: 'a/b', fileName: 'f', owned: true, nodeId: 'n' };
  const job = sampleJob({ outputs: { n: file }, runningMs: 12 });
  t.match(
    jobFrame({ type: 'flow_complete', ...at }, job, links, () => ''),
    {
      type: 'flow_complete',
      outputs: { n: { url: '/sluice/api/files/job-1.n', size: 1 } },
      duration: 12,
    },
  );
  t.end();
});
