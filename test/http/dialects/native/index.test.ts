import t, { type Test } from 'tap';
import { defineFlow } from '../../../../src/domain/define-flow.ts';
import { inputNode, resizeNode } from '../../../../src/index.ts';
import { call } from '../../../support/api.ts';
import { openSocket } from '../../../support/http-socket.ts';
import { type InProcessOptions, serviceInProcess } from '../../../support/service-in-process.ts';
import { uploadClient } from '../../../support/upload-client.ts';
import { quiet } from '../../../support/wait.ts';

const copy = defineFlow({
  flowId: 'copy',
  name: 'Copy',
  nodes: [inputNode('photo', { allowedMimeTypes: ['image/*'], maxFileSize: 100 }), resizeNode('small', { width: 1 })],
  edges: [{ source: 'photo', target: 'small' }],
});

const start = async (t: Test, options: InProcessOptions = {}) => {
  const { url, close } = await serviceInProcess(options);
  t.teardown(() => close());
  return { url, uploads: uploadClient(url) };
};

t.test('metadata is taken in every form that clients send', async (t) => {
  const { uploads } = await start(t);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  for (const metadata of [{ a: 'b' }, '{"a":"b"}', base64('{"a":"b"}'), `a ${base64('b')}`]) {
    t.strictSame((await uploads.create({ size: 1, metadata })).metadata, { a: 'b', size: 1, fileName: '', type: '' });
  }
  t.strictSame((await uploads.create({ size: 1, metadata: '' })).metadata, { size: 1, fileName: '', type: '' });
});

t.test('the limit of the service is in the headers of POST and HEAD', async (t) => {
  const { uploads } = await start(t, { limits: { maxUploadSize: 1000 } });
  const created = await uploads.post({ size: 1000 });
  t.match(created.headers.get('upload-limit'), /^max-size=1000, max-age=86[34]\d\d$/);
  t.equal(created.headers.get('upload-length'), '1000');
  t.equal(created.headers.get('upload-complete'), '?0');
  const { id } = (await created.json()) as { id: string };
  t.match((await uploads.head(id)).headers.get('upload-limit'), /^max-size=1000, max-age=86[34]\d\d$/);
  const { id: complete } = await uploads.upload('hello');
  t.equal((await uploads.head(complete)).headers.get('upload-limit'), 'max-size=1000', 'which has no end');
  t.equal((await uploads.post({ size: 1001 })).status, 413);
});

t.test('a used up quota is 403 for open uploads and 413 for bytes, and nothing is created', async (t) => {
  const { uploads, url } = await start(t, { limits: { quotaOpenUploads: 2, quotaStoredBytes: 1000 }, flows: { copy } });
  const first = await uploads.create({ size: 900 });
  const large = await uploads.post({ size: 101 });
  t.equal(large.status, 413);
  t.match(await large.json(), { code: 'QUOTA_EXCEEDED', details: { limit: 'storedBytes', max: 1000, used: 900 } });
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  const many = await uploads.post({ size: 1 });
  t.equal(many.status, 403);
  t.match(await many.json(), { code: 'QUOTA_EXCEEDED', details: { limit: 'openUploads', max: 2, used: 2 } });
  t.match(await call(url, 'POST', '/api/flow/copy/default', {}), { status: 403, body: { code: 'QUOTA_EXCEEDED' } });
  t.equal((await uploads.patch(id, 'x'.repeat(101), { offset: 0 })).status, 413);
  const early = await uploads.patch(id, '', { offset: 0, headers: { 'upload-length': '101' } });
  t.equal(early.status, 413);
  t.equal((await uploads.patch(id, 'x'.repeat(100), { offset: 0 })).status, 200);
  await uploads.remove(first.id);
  t.equal((await uploads.post({ size: 900 })).status, 201);
});

t.test('a reset long after an answer, with other requests in between, does not put it in doubt', async (t) => {
  const { url, uploads } = await start(t);
  const { id } = await uploads.create({ size: 10 });
  const http = await openSocket(url);
  const headers = { 'content-type': 'application/offset+octet-stream', 'content-length': 5 };
  await http.request('PATCH', `/api/upload/${id}`, headers);
  await http.send('aaaaa');
  t.equal((await http.response()).status, 200);
  await http.request('GET', '/api/health');
  t.equal((await http.response()).status, 200);
  http.socket.resetAndDestroy();
  await quiet();
  t.match(await (await uploads.patch(id, 'aaaaa')).json(), { offset: 10, status: 'completed' });
});

t.test('a HEAD that fails has a status and no body', async (t) => {
  const { uploads } = await start(t);
  const response = await uploads.head('nope');
  t.equal(response.status, 404);
  t.equal(await response.text(), '');
  t.match(response.headers.get('content-type'), 'application/json');
});

t.test('an upload for a waiting input of a job takes the place of its placeholder', async (t) => {
  const { url, uploads } = await start(t, { flows: { copy } });
  const { body: job } = await call(url, 'POST', '/api/flow/copy/default', {});
  const placeholder = job.tasks[0].result.id;
  const flow = { flowId: 'copy', nodeId: 'photo', jobId: job.id };
  const created = await uploads.create({ size: 5, type: 'image/png', flow });
  t.strictSame(created['flow'], flow);
  const { body } = await call(url, 'GET', `/api/jobs/${job.id}/status`);
  t.equal(body.tasks[0].result.id, created.id);
  t.equal((await uploads.head(placeholder)).status, 410);
  const second = await uploads.post({ size: 5, type: 'image/png', flow });
  t.equal(second.status, 409, 'the input has its file');
  t.match(await second.json(), { code: 'INVALID_JOB_STATE' });
});

t.test('an upload never starts a flow, and is refused where the input would not take it', async (t) => {
  const { url, uploads } = await start(t, { flows: { copy } });
  const { body: job } = await call(url, 'POST', '/api/flow/copy/default', {});
  const flow = { flowId: 'copy', nodeId: 'photo', jobId: job.id };
  for (const [fields, status, code] of [
    [{ flow: { ...flow, jobId: 'nope' } }, 404, 'FLOW_JOB_NOT_FOUND'],
    [{ flow: { ...flow, flowId: 'other' } }, 404, 'FLOW_JOB_NOT_FOUND'],
    [{ flow: { ...flow, nodeId: 'nope' } }, 404, 'NODE_NOT_FOUND'],
    [{ flow: { ...flow, nodeId: 'small' } }, 409, 'INVALID_JOB_STATE'],
    [{ flow, type: 'text/plain' }, 415, 'UNSUPPORTED_FORMAT'],
    [{ flow, size: 101 }, 413, 'FILE_TOO_LARGE'],
  ] as const) {
    const response = await uploads.post({ size: 5, type: 'image/png', ...fields });
    t.equal(response.status, status, JSON.stringify(fields));
    t.match(await response.json(), { code });
  }
  const { body } = await call(url, 'GET', `/api/jobs/${job.id}/status`);
  t.strictSame(body.tasks, job.tasks, 'and the job waits as before');
});
