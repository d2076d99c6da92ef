import t, { type Test } from 'tap';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import { inputNode, resizeNode } from '../../../src/index.ts';
import { call } from '../../support/api.ts';
import { openSocket } from '../../support/http-socket.ts';
import { serviceInProcess } from '../../support/service-in-process.ts';
import { chunk, lastChunk, uploadClient } from '../../support/upload-client.ts';

const copy = defineFlow({
  flowId: 'copy',
  name: 'Copy',
  nodes: [inputNode('photo'), resizeNode('small', { width: 1 })],
  edges: [{ source: 'photo', target: 'small' }],
});

/** A service, and a job of it that waits for an upload of deferred length. */
const start = async (t: Test) => {
  const { url, close } = await serviceInProcess({ flows: { copy } });
  t.teardown(() => close());
  const { body } = await call(url, 'POST', '/api/flow/copy/default', {});
  const jobId: string = body.id;
  const upload: string = body.tasks[0].result.id;
  const path = `/api/jobs/${jobId}/resume/photo`;
  const raw = (bytes: string) =>
    fetch(`${url}${path}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/octet-stream' },
      body: bytes,
    });
  return { url, jobId, upload, path, raw, uploads: uploadClient(url) };
};

t.test('without a body the job goes on if its uploads are complete, and stays as it is if not', async (t) => {
  const { url, path } = await start(t);
  for (const init of [{}, { headers: { 'content-type': 'application/json' } }]) {
    const response = await fetch(`${url}${path}`, { method: 'PATCH', ...init });
    t.equal(response.status, 200, JSON.stringify(init));
    t.match(await response.json(), { status: 'paused', pauseReason: 'uploads' });
  }
});

t.test('an operation takes the place of the upload that nobody has used', async (t) => {
  const { url, path, upload, uploads } = await start(t);
  const done = await uploads.upload('hello');
  const answer = await call(url, 'PATCH', path, { newData: { operation: 'upload', uploadId: done.id } });
  t.equal(answer.status, 200);
  t.equal(answer.body.tasks[0].result.id, done.id);
  t.equal((await uploads.head(upload)).status, 410);
  t.equal(
    (await call(url, 'PATCH', path, { newData: { operation: 'upload', uploadId: done.id } })).status,
    200,
    'again',
  );
});

t.test('finalize says that all bytes have come', async (t) => {
  const { url, path, upload, uploads } = await start(t);
  await uploads.patch(upload, 'hello', { offset: 0 });
  const answer = await call(url, 'PATCH', path, { newData: { operation: 'finalize', uploadId: upload } });
  t.match(answer.body.tasks[0].result, { id: upload, status: 'completed', size: 5 });
});

t.test('a raw body is the bytes of the input', async (t) => {
  const { raw, upload, uploads } = await start(t);
  const response = await raw('hello');
  t.equal(response.status, 200);
  t.match(await response.json(), { tasks: [{ result: { id: upload, status: 'completed', size: 5 } }, {}] });
  t.equal(String(await uploads.download(upload)), 'hello');
});

t.test('a raw body may be larger than JSON may, and chunked', async (t) => {
  const large = await start(t);
  t.equal((await large.raw('x'.repeat(300_000))).status, 200);
  t.equal((await large.uploads.get(large.upload)).size, 300_000);
  const { url, path, upload, uploads } = await start(t);
  const http = await openSocket(url);
  const headers = {
    'content-type': 'application/octet-stream',
    'transfer-encoding': 'chunked',
    expect: '100-continue',
  };
  await http.request('PATCH', path, headers);
  t.equal((await http.response()).status, 100);
  await http.send(Buffer.concat([chunk(Buffer.from('hel')), chunk(Buffer.from('lo')), Buffer.from(lastChunk)]));
  t.equal((await http.response()).status, 200);
  t.equal(String(await uploads.download(upload)), 'hello');
  http.cut();
});

t.test('a raw body that is cut counts for nothing', async (t) => {
  const { url, path, upload, uploads, raw } = await start(t);
  const http = await openSocket(url);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': 10, expect: '100-continue' };
  await http.request('PATCH', path, headers);
  t.equal((await http.response()).status, 100);
  await http.send('hello');
  http.cut();
  t.equal(await uploads.offset(upload), 0);
  t.equal((await raw('again')).status, 200);
  t.equal(String(await uploads.download(upload)), 'again');
});

t.test('what cannot be resumed says why', async (t) => {
  const { url, jobId, path } = await start(t);
  const refused = async (target: string, body: unknown, status: number, code: string) => {
    const answer = await call(url, 'PATCH', target, body);
    t.equal(answer.status, status, JSON.stringify(body));
    t.equal(answer.body.code, code);
    return answer.body.details;
  };
  await refused('/api/jobs/nope/resume/photo', {}, 404, 'FLOW_JOB_NOT_FOUND');
  await refused(`/api/jobs/${jobId}/resume/nope`, {}, 404, 'NODE_NOT_FOUND');
  await refused(`/api/jobs/${jobId}/resume/small`, {}, 409, 'INVALID_JOB_STATE');
  const unknown = { newData: { operation: 'upload', uploadId: 'nope' } };
  await refused(path, unknown, 404, 'FILE_NOT_FOUND');
  t.match(await refused(path, { newData: { operation: 'upload' } }, 400, 'VALIDATION_ERROR'), {
    field: 'body.newData.uploadId',
  });
  t.match(await refused(path, { other: 1 }, 400, 'VALIDATION_ERROR'), { field: 'body.other' });
  const text = await fetch(`${url}${path}`, {
    method: 'PATCH',
    headers: { 'content-type': 'text/plain' },
    body: 'hello',
  });
  t.equal(text.status, 415);
});

t.test('a job that has ended stays as it is', async (t) => {
  const { url, jobId, path, raw } = await start(t);
  await call(url, 'POST', `/api/jobs/${jobId}/cancel`);
  t.match((await call(url, 'PATCH', path, {})).body, { status: 'cancelled' });
  t.match(await (await raw('hello')).json(), { status: 'cancelled' });
});
