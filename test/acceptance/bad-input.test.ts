/** What the service is not made for (WIRE 1 and 7): refused with its status and code, nothing lost, nothing broken. */
import t, { type Test } from 'tap';
import { openSocket } from '../support/http-socket.ts';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import {
  chunk,
  type ErrorBody,
  lastChunk,
  type PatchOptions,
  patchType,
  sampleBytes,
  uploadClient,
} from '../support/upload-client.ts';

const service = await startService({
  DATA_DIR: await temporaryDirectory(t),
  WORKERS: '0',
  MAX_UPLOAD_SIZE: '1MiB',
});
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);
const { id: victim } = await uploads.create({ fileName: 'victim.txt', size: 10 });
await uploads.patch(victim, 'hello', { offset: 0 });

/** After each test the process is the same, and what was there before is unharmed. */
const test = (title: string, work: (t: Test) => Promise<void>): void =>
  void t.test(title, async (t) => {
    await work(t);
    const health = await fetch(`${service.url}/api/health`);
    t.equal(health.status, 200, 'the service is alive');
    t.equal(await uploads.offset(victim), 5, 'and has lost nothing');
    t.notMatch(service.output(), /INTERNAL_ERROR|TypeError|unhandled/i);
  });

const refused = async (t: Test, response: Response, status: number, code: string): Promise<ErrorBody> => {
  const text = await response.text();
  t.equal(response.status, status, text);
  const body = JSON.parse(text) as ErrorBody;
  t.equal(body.code, code);
  return body;
};

test('another offset than the upload has is 409 and names the true one', async (t) => {
  for (const offset of [0, 4, 6, 10, 9007199254740991]) {
    const response = await uploads.patch(victim, 'xxxxx', { offset });
    t.equal(response.headers.get('upload-offset'), '5');
    t.equal(response.headers.get('upload-complete'), '?0');
    const body = await refused(t, response, 409, 'INVALID_OFFSET');
    t.match(body, { 'expected-offset': 5, 'provided-offset': offset });
  }
});

test('a malformed Upload-Offset is 400', async (t) => {
  for (const offset of ['-1', '1e3', '9007199254740992', '5.0', '0x5', '5 5', '+5', 'five', '']) {
    const body = await refused(t, await uploads.patch(victim, 'x', { offset }), 400, 'INVALID_OFFSET');
    t.equal(body.details?.['field'], 'headers.upload-offset');
  }
});

test('a repeated Upload-Offset is 400', async (t) => {
  const http = await openSocket(service.url);
  const { host, pathname } = new URL(service.url);
  await http.send(
    `PATCH ${pathname}/api/upload/${victim} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${patchType}\r\n` +
      'Upload-Offset: 5\r\nUpload-Offset: 5\r\nContent-Length: 1\r\n\r\nx',
  );
  const { status, body } = await http.response();
  t.equal(status, 400);
  t.match(JSON.parse(body), { code: 'INVALID_OFFSET' });
  http.cut();
});

test('a malformed Upload-Length is 400', async (t) => {
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  for (const length of ['-1', '1e3', '9007199254740992', 'ten']) {
    const response = await uploads.patch(id, 'x', { offset: 0, headers: { 'upload-length': length } });
    await refused(t, response, 400, 'VALIDATION_ERROR');
  }
  const large = await uploads.patch(id, 'x', { offset: 0, headers: { 'upload-length': '1048577' } });
  await refused(t, large, 413, 'ERR_MAX_SIZE_EXCEEDED');
  t.equal(await uploads.offset(id), 0);
});

test('a body that would pass the size is refused by its Content-Length before a byte is read', async (t) => {
  const http = await openSocket(service.url);
  await http.request('PATCH', `/api/upload/${victim}`, {
    'content-type': patchType,
    'upload-offset': 5,
    'content-length': 6,
  });
  const { status, headers, body } = await http.response();
  t.equal(status, 413, 'without a byte of the body');
  t.equal(headers['connection'], 'close');
  t.match(JSON.parse(body), { code: 'ERR_SIZE_EXCEEDED' });
  http.cut();
  await refused(t, await uploads.patch(victim, 'xxxxxx'), 413, 'ERR_SIZE_EXCEEDED');
});

test('the answer to a refused body reaches a client that sends all of it first', async (t) => {
  const response = await uploads.patch(victim, sampleBytes(3 * 1024 * 1024), { offset: 5 });
  await refused(t, response, 413, 'ERR_SIZE_EXCEEDED');
});

test('a chunked body that passes the size leaves the offset where it was', async (t) => {
  for (const headers of [{ 'upload-offset': 5 }, {}]) {
    const http = await uploads.begin(victim, { ...headers, 'transfer-encoding': 'chunked' });
    await http.send(Buffer.concat([chunk(Buffer.from('wor')), chunk(Buffer.from('ld!')), Buffer.from(lastChunk)]));
    const { status, body } = await http.response();
    t.equal(status, 413);
    t.match(JSON.parse(body), { code: 'ERR_SIZE_EXCEEDED' });
    t.equal(await uploads.offset(victim), 5);
    http.cut();
  }
});

test('bytes for a complete upload are 413, with a length and chunked', async (t) => {
  const { id } = await uploads.upload('hello');
  for (const offset of [5, undefined]) {
    await refused(t, await uploads.patch(id, 'x', { offset }), 413, 'ERR_SIZE_EXCEEDED');
    const headers = offset === undefined ? {} : { 'upload-offset': offset };
    const http = await openSocket(service.url);
    await http.request('PATCH', `/api/upload/${id}`, {
      'content-type': patchType,
      'transfer-encoding': 'chunked',
      ...headers,
    });
    await http.send(chunk(Buffer.from('x')));
    t.equal((await http.response()).status, 413);
    http.cut();
  }
  t.equal(String(await uploads.download(id)), 'hello');
});

void t.test(
  'an upload over the limit of the service is 413 at its creation, and when its length was deferred',
  async (t) => {
    const response = await uploads.post({ size: 1024 * 1024 + 1 });
    const body = await refused(t, response, 413, 'ERR_MAX_SIZE_EXCEEDED');
    t.match(body.details, { max: 1024 * 1024, actual: 1024 * 1024 + 1 });
    const { id } = await uploads.create({ uploadLengthDeferred: true });
    const patch = await uploads.patch(id, sampleBytes(1024 * 1024 + 1), { offset: 0 });
    await refused(t, patch, 413, 'ERR_MAX_SIZE_EXCEEDED');
  },
);

test('a wrong or missing content type of a PATCH is 415', async (t) => {
  const wrong: PatchOptions[] = [
    { type: 'application/json' },
    { type: 'text/plain' },
    { type: 'application/offset' },
    { type: 'multipart/form-data; boundary=x' },
    { type: ';' },
  ];
  for (const options of wrong) {
    await refused(t, await uploads.patch(victim, 'world', { offset: 5, ...options }), 415, 'INVALID_CONTENT_TYPE');
  }
  const http = await openSocket(service.url);
  await http.request('PATCH', `/api/upload/${victim}`, { 'upload-offset': 5, 'content-length': 5 });
  t.match(await http.response(), { status: 415, body: /INVALID_CONTENT_TYPE/ });
  http.cut();
});

test('unknown ids are 404', async (t) => {
  const unknown = '0'.repeat(32);
  const get = (path: string) => fetch(`${service.url}${path}`);
  await refused(t, await get(`/api/upload/${unknown}`), 404, 'FILE_NOT_FOUND');
  await refused(t, await get(`/api/files/${unknown}`), 404, 'FILE_NOT_FOUND');
  await refused(t, await get(`/api/files/${unknown}.image`), 404, 'FILE_NOT_FOUND');
  await refused(t, await get(`/api/files/${victim}`), 404, 'FILE_NOT_FOUND');
  await refused(t, await get(`/api/flow/${unknown}`), 404, 'FLOW_NOT_FOUND');
  await refused(t, await get(`/api/jobs/${unknown}/status`), 404, 'FLOW_JOB_NOT_FOUND');
  await refused(t, await uploads.patch(unknown, 'x', { offset: 0 }), 404, 'FILE_NOT_FOUND');
  await refused(t, await uploads.remove(unknown), 404, 'FILE_NOT_FOUND');
  await refused(t, await uploads.post({ size: 1, storageId: 'nope' }), 404, 'STORAGE_NOT_FOUND');
  const flow = { flowId: 'thumbnail', nodeId: 'picture', jobId: unknown };
  await refused(t, await uploads.post({ size: 1, flow }), 404, 'FLOW_JOB_NOT_FOUND');
  const post = (path: string, body: unknown) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await refused(t, await post('/api/flow/nope/default', {}), 404, 'FLOW_NOT_FOUND');
  await refused(t, await post('/api/flow/thumbnail/nope', {}), 404, 'STORAGE_NOT_FOUND');
  const node = { inputs: { nope: { operation: 'upload', uploadId: unknown } } };
  await refused(t, await post('/api/flow/thumbnail/default', node), 404, 'NODE_NOT_FOUND');
  const input = { inputs: { picture: { operation: 'upload', uploadId: unknown } } };
  await refused(t, await post('/api/flow/thumbnail/default', input), 404, 'FILE_NOT_FOUND');
});

test('names of Object.prototype are no ids', async (t) => {
  for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    for (const path of [`upload/${id}`, `files/${id}`, `files/x.${id}`, `flow/${id}`, `jobs/${id}/status`]) {
      t.equal((await fetch(`${service.url}/api/${path}`)).status, 404, path);
    }
    t.equal((await uploads.post({ size: 1, storageId: id })).status, 404, `storage ${id}`);
  }
});

test('unknown paths are 404', async (t) => {
  for (const [method, path] of [
    ['GET', '/api/nope'],
    ['POST', '/api/nope'],
    ['PATCH', '/api/upload/a/b'],
    ['DELETE', '/'.repeat(50)],
  ] as const) {
    const body = method === 'POST' || method === 'PATCH' ? 'hello' : null;
    await refused(t, await fetch(`${service.url}${path}`, { method, body }), 404, 'NOT_FOUND');
  }
  await refused(t, await fetch(new URL('/api/upload', service.url)), 404, 'NOT_FOUND');
});

test('a method that a path does not have is 405 with Allow, whatever the body', async (t) => {
  const cases = [
    ['PUT', `/api/upload/${victim}`, ['GET', 'HEAD', 'PATCH', 'DELETE']],
    ['PUT', '/api/upload', ['POST']],
    ['GET', '/api/upload', ['POST']],
    ['POST', '/api/upload/capabilities', ['GET']],
    ['DELETE', `/api/files/${victim}`, ['GET', 'HEAD']],
    ['POST', '/api/flow', ['GET']],
    ['PATCH', '/api/health', ['GET']],
    ['GET', '/api/jobs/x/cancel', ['POST']],
  ] as const;
  for (const [method, path, allowed] of cases) {
    const withBody = method !== 'GET' && method !== 'DELETE';
    const init = withBody ? { body: 'x'.repeat(100_000), headers: { 'content-type': 'image/png' } } : {};
    const response = await fetch(`${service.url}${path}`, { method, ...init });
    const allow = (response.headers.get('allow') ?? '').split(', ');
    t.ok(
      allowed.every((one) => allow.includes(one)),
      `${method} ${path}: ${allow}`,
    );
    t.notOk(allow.includes(method));
    await refused(t, response, 405, 'METHOD_NOT_ALLOWED');
  }
});
