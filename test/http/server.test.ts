import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import { call } from '../support/api.ts';
import { openEvents } from '../support/event-socket.ts';
import { openSocket } from '../support/http-socket.ts';
import { type InProcessOptions, serviceInProcess } from '../support/service-in-process.ts';
import { quiet, until } from '../support/wait.ts';

const start = async (t: Test, options: InProcessOptions = {}) => {
  const service = await serviceInProcess(options);
  t.teardown(() => service.close());
  return service;
};

t.test('all paths are below the base, or at the root without one', async (t) => {
  for (const base of ['/sluice', '/a/b', '']) {
    const { url } = await start(t, { baseUrl: base });
    const created = await call(url, 'POST', '/api/upload', { size: 0 });
    t.equal(created.status, 201, base);
    t.equal(created.headers.get('location'), `${base}/api/upload/${created.body.id}`);
    t.equal((await call(url, 'GET', '/healthz')).status, 200);
    const outside = await call(new URL(url).origin, 'GET', '/other/api/health');
    t.equal(outside.status, 404);
  }
});

t.test('a public address makes Location and url absolute', async (t) => {
  const { url } = await start(t, { baseUrl: 'https://files.example.org/sluice' });
  const { headers, body } = await call(url, 'POST', '/api/upload', { size: 0 });
  t.equal(headers.get('location'), `https://files.example.org/sluice/api/upload/${body.id}`);
  t.equal(body.url, `https://files.example.org/sluice/api/files/${body.id}`);
});

t.test("a request keeps its client's id where that can be logged, and gets one where not", async (t) => {
  const { url } = await start(t);
  const idOf = async (id: string) =>
    (await fetch(`${url}/api/health`, { headers: { 'x-request-id': id } })).headers.get('x-request-id') ?? '';
  for (const id of ['a', 'trace-1.b_c', 'x'.repeat(64)]) t.equal(await idOf(id), id);
  for (const id of ['a b', '{"a":1}', 'x'.repeat(65), 'a,b']) t.match(await idOf(id), /^[0-9a-f-]{36}$/);
});

t.test('a request is one line of the log, without its query, and probes are quiet', async (t) => {
  const { url, log } = await start(t);
  await fetch(`${url}/api/upload/x?token=secret`, { headers: { 'x-request-id': 'r1' } });
  await fetch(`${url}/healthz`, { headers: { 'x-request-id': 'r2' } });
  await until(() => log.filter(({ msg }) => msg === 'request').length >= 2);
  const [upload, health] = log.filter(({ msg }) => msg === 'request');
  t.match(upload, { level: 30, reqId: 'r1', method: 'GET', path: '/sluice/api/upload/x', status: 404, ms: Number });
  t.match(health, { level: 20, reqId: 'r2', status: 200 });
  t.notMatch(JSON.stringify(log), 'secret');
});

t.test('what fails inside is 500 for the client, and its cause is in the log', async (t) => {
  const { url, log } = await start(t, {
    wrapRecords: (store) => ({ ...store, get: () => Promise.reject(new Error('disk on fire')) }),
  });
  const { status, body } = await call(url, 'GET', '/api/upload/x');
  t.equal(status, 500);
  t.equal(body.code, 'INTERNAL_ERROR');
  t.notMatch(JSON.stringify(body), 'fire');
  await until(() => log.some(({ level }) => level === 50));
  t.match(
    log.find(({ level }) => level === 50),
    { reqId: body.requestId, err: { message: 'disk on fire' } },
  );
});

t.test('a store that cannot answer is 503 with Retry-After', async (t) => {
  const { url } = await start(t, {
    wrapRecords: (store) => ({ ...store, get: () => Promise.reject(new ServiceError('UNAVAILABLE')) }),
  });
  const { status, headers, body } = await call(url, 'GET', '/api/upload/x');
  t.equal(status, 503);
  t.equal(body.code, 'UNAVAILABLE');
  t.equal(headers.get('retry-after'), '1');
});

t.test('paths that the router refuses get the error of everything else', async (t) => {
  const { url } = await start(t);
  for (const path of ['/api/upload/%zz', `/api/upload/${'x'.repeat(300)}`]) {
    const { status, headers, body } = await call(url, 'GET', path);
    t.equal(status, 400);
    t.match(body, { code: 'VALIDATION_ERROR', error: body.message, requestId: headers.get('x-request-id') });
    t.notMatch(body.requestId, /^$/);
  }
});

t.test('an unknown path is 404 before its body is asked for', async (t) => {
  const { url } = await start(t);
  const http = await openSocket(url);
  await http.request('POST', '/api/nope', { 'content-type': 'image/png', 'content-length': 5, expect: '100-continue' });
  t.match(await http.response(), { status: 404, body: /"code":"NOT_FOUND"/ });
  http.cut();
});

t.test('an empty JSON body counts as an empty object, and a type without a body is no error', async (t) => {
  const { url } = await start(t);
  const headers = { 'content-type': 'application/json' };
  const empty = await fetch(`${url}/api/upload`, { method: 'POST', headers });
  t.match(await empty.json(), { code: 'VALIDATION_ERROR', details: { field: 'body.size' } });
  const cancel = await fetch(`${url}/api/jobs/x/cancel`, { method: 'POST', headers });
  t.match(await cancel.json(), { code: 'FLOW_JOB_NOT_FOUND' });
});

t.test('closing ends sockets with 1001', async (t) => {
  const service = await start(t);
  const { body } = await call(service.url, 'POST', '/api/upload', { size: 5 });
  const sockets = [1, 2, 3].map(() => openEvents(service.url, `/ws/upload/${body.id}`));
  await Promise.all(sockets.map((socket) => socket.until('upload_started')));
  await service.close();
  for (const { closed } of sockets) t.match(await closed, { code: 1001 });
});

t.test('closing waits for refused bodies that are still coming', async (t) => {
  const service = await start(t);
  const { body } = await call(service.url, 'POST', '/api/upload', { size: 5 });
  const http = await openSocket(service.url);
  await http.request('PATCH', `/api/upload/${body.id}`, {
    'content-type': 'application/offset+octet-stream',
    'upload-offset': 3,
    'content-length': 1000,
  });
  t.equal((await http.response()).status, 409);
  let done = false;
  const closing = service.close().then(() => {
    done = true;
  });
  await http.send('x'.repeat(500));
  await quiet();
  t.equal(done, false);
  t.ok(http.socket.writable, 'the connection is still there');
  await http.send('x'.repeat(500));
  await closing;
  await http.closed;
});
