/**
 * One writer per upload (WIRE 1, rule 5), and what becomes of bodies that do not end by themselves. Always in one process
 * that is asked directly: a proxy agrees to take a body before the service has heard of it. `two-replicas` has the rest.
 */
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, patchType, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

const service = await startService({
  DATA_DIR: await temporaryDirectory(t),
  WORKERS: '0',
  UPLOAD_IDLE_TIMEOUT: '4s',
  UPLOAD_MIN_RATE: '0',
});
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

/** A PATCH that is being received, with `sent` of its bytes on their way. */
const running = async (id: string, sent: Buffer, headers: Record<string, string | number>) => {
  const http = await uploads.begin(id, headers);
  await http.send(sent);
  return http;
};

void t.test('HEAD displaces a running PATCH and tells the offset to resume from', async (t) => {
  const bytes = sampleBytes(200_000);
  const { id } = await uploads.create({ size: bytes.length });
  const http = await running(id, bytes.subarray(0, 150_000), { 'upload-offset': 0, 'content-length': bytes.length });
  const offset = await uploads.offset(id);
  t.ok(offset >= 0 && offset <= 150_000, `${offset}`);
  const displaced = await http.response();
  t.equal(displaced.status, 409, 'its own request gets no success after that');
  t.equal(displaced.headers['upload-offset'], String(offset));
  t.equal(displaced.headers['connection'], 'close');
  await http.closed;
  t.equal(await uploads.offset(id), offset, 'and writes nothing more');
  await uploads.patch(id, bytes.subarray(offset), { offset });
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});

void t.test('a half-open connection does not block a resume', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const silent = await running(id, Buffer.from('hel'), { 'upload-offset': 0, 'content-length': 10 });
  const begin = performance.now();
  const offset = await uploads.offset(id);
  t.ok(performance.now() - begin < 2000, 'HEAD does not wait for the idle timer');
  const rest = await uploads.patch(id, 'helloworld'.slice(offset), { offset });
  t.match(await rest.json(), { status: 'completed' });
  t.equal(String(await uploads.download(id)), 'helloworld');
  silent.cut();
});

void t.test('a displaced PATCH without Upload-Offset rolls back', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const http = await running(id, Buffer.from('hello'), { 'content-length': 10 });
  t.equal(await uploads.offset(id), 0);
  t.equal((await http.response()).status, 409);
  t.equal(await uploads.offset(id), 0);
  http.cut();
});

void t.test('DELETE stops a running PATCH', async (t) => {
  const { id } = await uploads.create({ size: 1_000_000 });
  const http = await running(id, sampleBytes(500_000), { 'upload-offset': 0, 'content-length': 1_000_000 });
  t.equal((await uploads.remove(id)).status, 204);
  const { status } = await http.response();
  t.ok(status === 409 || status === 410, `${status}`);
  http.cut();
  t.equal((await uploads.head(id)).status, 410);
});

void t.test('a PATCH at another offset is refused at once while one is running', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const http = await running(id, Buffer.from('hel'), { 'upload-offset': 0, 'content-length': 10 });
  const other = await uploads.patch(id, 'x', { offset: 3 });
  t.equal(other.status, 409);
  t.equal(other.headers.get('upload-offset'), '0');
  await http.send('loworld');
  t.equal((await http.response()).status, 200, 'and the running one is not disturbed');
  http.cut();
});

void t.test('a PATCH at the same offset waits for the running one and then meets the new offset', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const http = await running(id, Buffer.from('hel'), { 'upload-offset': 0, 'content-length': 5 });
  const waiting = uploads.patch(id, 'HELLO', { offset: 0 });
  await http.send('lo');
  t.equal((await http.response()).status, 200);
  const second = await waiting;
  t.equal(second.status, 409);
  t.match(await second.json(), { 'expected-offset': 5, 'provided-offset': 0 });
  await uploads.patch(id, 'world', { offset: 5 });
  t.equal(String(await uploads.download(id)), 'helloworld');
  http.cut();
});

void t.test('a PATCH at the offset that a running one has committed on its way waits too', async (t) => {
  const bytes = sampleBytes(20 * 1024 * 1024);
  const { id } = await uploads.create({ size: bytes.length });
  const most = bytes.subarray(0, -10);
  const http = await running(id, most, { 'upload-offset': 0, 'content-length': bytes.length });
  await until(async () => (await uploads.get(id)).offset > 0);
  const { offset } = await uploads.get(id);
  const waiting = uploads.patch(id, 'x', { offset });
  await http.send(bytes.subarray(-10));
  t.equal((await http.response()).status, 200);
  const refused = await waiting;
  t.equal(refused.status, 409);
  t.equal(refused.headers.get('upload-offset'), String(bytes.length));
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
  http.cut();
});

void t.test(
  'a PATCH that waits for a writer whose connection breaks goes on at the offset if it still fits',
  async (t) => {
    const { id } = await uploads.create({ size: 5 });
    const http = await uploads.begin(id, { 'upload-offset': 0, 'content-length': 5 });
    const waiting = uploads.patch(id, 'hello', { offset: 0 });
    http.cut();
    t.match(await (await waiting).json(), { status: 'completed' });
  },
);

void t.test('a PATCH that waits in vain is told to come again', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const http = await running(id, Buffer.from('hel'), { 'upload-offset': 0, 'content-length': 10 });
  // A writer that is not silent may keep others waiting for five seconds.
  const dripping = setInterval(() => void http.send('x'), 1500);
  const locked = await Promise.all([uploads.patch(id, 'x', { offset: 0 }), uploads.patch(id, 'x')]);
  clearInterval(dripping);
  for (const response of locked) {
    t.equal(response.status, 423);
    t.equal(response.headers.get('retry-after'), '1');
    t.equal(((await response.json()) as ErrorBody).code, 'UPLOAD_LOCKED');
  }
  http.cut();
});

void t.test('of many PATCHes at one offset exactly one is accepted', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const bodies = ['aaaaa', 'bbbbb', 'ccccc', 'ddddd', 'eeeee', 'fffff', 'ggggg', 'hhhhh'];
  const responses = await Promise.all(bodies.map((body) => uploads.patch(id, body, { offset: 0 })));
  const accepted = bodies.filter((_, index) => responses[index]?.status === 200);
  t.equal(accepted.length, 1);
  t.ok(responses.every(({ status }) => status === 200 || status === 409));
  await uploads.patch(id, 'world', { offset: 5 });
  t.equal(String(await uploads.download(id)), `${accepted[0]}world`);
});

void t.test('Expect: 100-continue is answered only when nothing speaks against the body', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  const refused = uploads.begin(id, { 'upload-offset': 3, 'content-length': 2 });
  await t.rejects(refused, /^409 instead of 100/);
  await t.rejects(uploads.begin(id, { 'upload-offset': 0, 'content-length': 6 }), /^413 instead of 100/);
  await t.rejects(uploads.begin('nope', { 'content-length': 6 }), /^404 instead of 100/);
  const http = await uploads.begin(id, { 'upload-offset': 0, 'content-length': 5 });
  await http.send('hello');
  t.equal((await http.response()).status, 200);
  http.cut();
});

void t.test('a body that no longer comes is ended, and what arrived is kept', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const http = await uploads.begin(id, { 'upload-offset': 0, 'content-length': 10 });
  await http.send('hello');
  const { status, headers } = await http.response();
  t.equal(status, 503, 'and neither 408 nor 429, which clients take as final');
  t.equal(headers['connection'], 'close');
  t.ok(Number(headers['retry-after']) >= 1);
  await http.closed;
  t.equal(await uploads.offset(id), 5);
});

void t.test('a connection goes on after a PATCH', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  const http = await running(id, Buffer.from('hello'), { 'upload-offset': 0, 'content-length': 5 });
  t.equal((await http.response()).status, 200);
  await http.request('PATCH', `/api/upload/${id}`, {
    'content-type': patchType,
    'upload-offset': 5,
    'content-length': 5,
  });
  await http.send('world');
  t.match(await http.response(), { status: 200, headers: { 'upload-offset': '10' } });
  http.cut();
});
