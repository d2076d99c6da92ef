/** The process: how it starts, what it says when it cannot, and how it ends. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { openEvents } from '../support/event-socket.ts';
import { openSocket } from '../support/http-socket.ts';
import { runToExit, startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { patchType, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

const flows = await temporaryDirectory(t);
await writeFile(
  `${flows}/copy.json`,
  JSON.stringify({
    flowId: 'copy',
    name: 'Copy',
    nodes: { file: { type: 'file-input' }, result: { type: 'output' } },
    edges: [{ source: 'file', target: 'result' }],
  }),
);
const settings = (directory: string, more: Record<string, string> = {}) => ({
  DATA_DIR: directory,
  FLOWS_DIR: flows,
  WORKERS: '0',
  ...more,
});
/** A service alone without workers warns. */
const working = { WORKERS: '1' };
const mebibyte = 1024 * 1024;

void t.test('a start prints one line: the address, the flows, the drivers', async (t) => {
  const service = await startService(settings(await temporaryDirectory(t), { ...working, BASE_PATH: '/files/' }));
  const lines = service.output().trim().split('\n');
  t.equal(lines.length, 1, service.output());
  t.match(
    lines[0],
    /^Sluice \d+\.\d+\.\d+ on http:\/\/127\.0\.0\.1:\d+\/files \| flows: copy \| data: local, records: /,
  );
  t.equal((await fetch(`${service.url}/api/health`)).status, 200, 'and the address works as it stands');
  t.equal(await service.stop('SIGINT'), 0, 'SIGINT ends it as well');
  t.equal(service.output().trim().split('\n').length, 1, 'without a word');
});

void t.test('problems of the configuration are told all at once, with the names of the variables', async (t) => {
  const directory = await temporaryDirectory(t);
  const { code, output } = await runToExit(
    settings(directory, {
      PORT: '70000',
      LOG_LEVEL: 'loud',
      MAX_UPLOAD_SIZE: '5 pounds',
      CONSOLE: 'yes',
      WORKERS: '-1',
    }),
  );
  t.equal(code, 1);
  for (const name of ['PORT', 'LOG_LEVEL', 'MAX_UPLOAD_SIZE', 'CONSOLE', 'WORKERS']) {
    t.match(output, new RegExp(`^ *${name} must be .*`, 'm'));
  }
  t.match(output, '70000');
  t.notMatch(output, /\bat .*\.ts:\d+/, 'and without a stack');
});

void t.test('a second process on the same data directory exits and says why', async (t) => {
  const directory = await temporaryDirectory(t);
  const first = await startService(settings(directory));
  const { id } = await uploadClient(first.url).upload('hello');
  const { code, output } = await runToExit(settings(directory));
  t.equal(code, 1);
  t.match(output, `${directory}/sluice.db is in use by another process`);
  t.equal(String(await uploadClient(first.url).download(id)), 'hello', 'the first one is not disturbed');
  t.equal(await first.stop(), 0);
});

void t.test('a port in use ends the start', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const port = String((other.address() as AddressInfo).port);
  const { code, output } = await runToExit(settings(await temporaryDirectory(t), { PORT: port }));
  t.equal(code, 1);
  t.match(output, new RegExp(`address already in use.*${port}`));
});

void t.test('SIGTERM in the middle of a PATCH: what arrived is kept, the client is told to come again', async (t) => {
  const directory = await temporaryDirectory(t);
  const service = await startService(settings(directory, working));
  const uploads = uploadClient(service.url);
  const bytes = sampleBytes(24 * mebibyte);
  const { id } = await uploads.create({ size: bytes.length });
  const { id: watched } = await uploads.create({ size: 1 });
  const events = openEvents(service.url, `/ws/upload/${watched}`);
  await events.until('upload_started');

  const http = await uploads.begin(id, { 'upload-offset': 0, 'content-length': bytes.length });
  await http.send(bytes.subarray(0, 20 * mebibyte));
  await until(async () => (await uploads.get(id)).offset > 0);
  const committed = (await uploads.get(id)).offset;
  const exit = service.stop();
  const { status, headers, body } = await http.response();
  t.equal(status, 503);
  t.ok(Number(headers['retry-after']) >= 1);
  t.equal(headers['connection'], 'close');
  t.match(JSON.parse(body), { code: 'UNAVAILABLE' });
  http.cut();
  t.equal((await events.closed).code, 1001);
  t.equal(await exit, 0);
  t.equal(service.output().trim().split('\n').length, 1, 'nothing was logged as wrong');

  const again = await startService(settings(directory));
  const resumed = uploadClient(again.url);
  const offset = await resumed.offset(id);
  t.ok(offset >= committed && offset <= 20 * mebibyte, `${offset}`);
  t.match(await (await resumed.patch(id, bytes.subarray(offset), { offset })).json(), { status: 'completed' });
  t.equal(sha256(await resumed.download(id)), sha256(bytes));
  t.equal(await again.stop(), 0);
});

void t.test('the 503 of a drain also reaches a client that reads only after it has sent more', async (t) => {
  const service = await startService(settings(await temporaryDirectory(t)));
  const uploads = uploadClient(service.url);
  const { id } = await uploads.create({ size: 20 * mebibyte });
  const events = openEvents(service.url, `/ws/upload/${id}`);
  const http = await openSocket(service.url, { deaf: true });
  await http.request('PATCH', `/api/upload/${id}`, {
    'content-type': patchType,
    'upload-offset': 0,
    'content-length': 20 * mebibyte,
  });
  await http.send(sampleBytes(18 * mebibyte));
  await events.until('upload_progress');
  const exit = service.stop();
  t.equal((await events.closed).code, 1001);
  await http.send(sampleBytes(mebibyte));
  const { status, headers } = await http.response();
  t.equal(status, 503);
  t.equal(headers['connection'], 'close');
  t.equal(await exit, 0);
});
