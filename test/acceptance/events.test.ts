/** The socket of an upload (WIRE 5): the snapshot, the log, what happens, the end. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { isProxied, startDeployment } from '../support/deployment.ts';
import { openEvents } from '../support/event-socket.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, uploadClient } from '../support/upload-client.ts';

const service = await startDeployment({
  DATA_DIR: await temporaryDirectory(t),
  FLOWS_DIR: await temporaryDirectory(t),
  WORKERS: '0',
});
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);
const watch = (id: string, query = '') => openEvents(service.url, `/ws/upload/${id}${query}`);
const told = (frames: readonly { readonly type: string; readonly seq: number }[]) =>
  frames.map(({ type, seq }) => `${seq} ${type}`);

void t.test('a socket gets the snapshot, then the log, then what happens, numbered from 1 without a gap', async (t) => {
  const { id } = await uploads.create({ fileName: 'a.txt', size: 10, metadata: { album: 'x' } });
  const events = watch(id);
  await events.until('upload_started');
  await uploads.patch(id, 'hello', { offset: 0 });
  await events.until('upload_progress');
  await uploads.patch(id, 'world', { offset: 5 });
  const end = await events.until('upload_complete');
  t.same(told(events.frames), [
    '1 upload_snapshot',
    '1 upload_started',
    '2 upload_progress',
    '3 upload_progress',
    '4 upload_complete',
  ]);
  const [snapshot, started, half, whole] = events.frames;
  t.match(snapshot, { id, offset: 0, size: 10, status: 'created', metadata: { fileName: 'a.txt', album: 'x' } });
  t.match(started, { uploadId: id, fileName: 'a.txt', size: 10 });
  t.match(half, { uploadId: id, bytesUploaded: 5, size: 10, progress: 0.5 });
  t.match(whole, { uploadId: id, bytesUploaded: 10, size: 10, progress: 1 });
  t.match(end, { uploadId: id, url: `/sluice/api/files/${id}` });
  for (const { timestamp } of events.frames) t.equal(new Date(timestamp).toISOString(), timestamp);
});

void t.test('the socket is closed with 1000 a few seconds after the end', async (t) => {
  const { id } = await uploads.upload('hello');
  const events = watch(id);
  await events.until('upload_complete');
  const begin = performance.now();
  t.equal((await events.closed).code, 1000);
  const ms = performance.now() - begin;
  t.ok(ms > 1000 && ms < 15_000, `${ms}`);
});

void t.test('a late reader gets the whole story, terminal frame included', async (t) => {
  const { id } = await uploads.upload('hello');
  const events = watch(id);
  await events.until('upload_complete');
  t.same(told(events.frames), ['3 upload_snapshot', '1 upload_started', '2 upload_progress', '3 upload_complete']);
  t.match(events.frames[0], { status: 'completed', offset: 5 });
  events.socket.close();
});

void t.test('since gives what came after it', async (t) => {
  const { id } = await uploads.upload('hello');
  for (const [since, expected] of [
    ['0', ['1 upload_started', '2 upload_progress', '3 upload_complete']],
    ['1', ['2 upload_progress', '3 upload_complete']],
    ['2', ['3 upload_complete']],
  ] as const) {
    const events = watch(id, `?since=${since}`);
    await events.until('upload_complete');
    t.same(told(events.frames), ['3 upload_snapshot', ...expected]);
    events.socket.close();
  }
  const seen = watch(id, '?since=3');
  t.equal((await seen.closed).code, 1000);
  t.same(told(seen.frames), ['3 upload_snapshot'], 'and nothing twice');
});

void t.test('a since that was never given out hides nothing that comes', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  const events = watch(id, '?since=999999');
  await events.until('upload_snapshot');
  await uploads.patch(id, 'hello', { offset: 0 });
  await events.until('upload_complete');
  t.same(told(events.frames), ['1 upload_snapshot', '2 upload_progress', '3 upload_complete']);
  events.socket.close();
});

void t.test('a since that is no number closes the socket', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  for (const since of ['junk', '-1', '1e3', '1&since=2', '9'.repeat(30), '']) {
    const events = watch(id, `?since=${since}`);
    t.equal((await events.closed).code, 1008, since);
    t.same(events.frames, []);
  }
});

void t.test('an unknown id is accepted and closed with 4004', async (t) => {
  // nginx refuses a zero byte by itself.
  const zero = isProxied ? [] : [`${digest()}%00`];
  for (const id of ['nope', '0'.repeat(32), '__proto__', '..%2f..', ...zero]) {
    const events = watch(id);
    t.equal((await events.closed).code, 4004, id);
    t.same(events.frames, []);
  }
  t.equal((await openEvents(service.url, '/ws/flow/nope').closed).code, 4004);
});

const digest = () => randomBytes(16).toString('hex');

void t.test('a deleted upload ends with upload_error', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  const events = watch(id);
  await events.until('upload_started');
  await uploads.remove(id);
  t.match(await events.until('upload_error'), { uploadId: id, seq: 2, error: { code: 'CANCELLED' } });
  const late = watch(id);
  t.match(await late.until('upload_error'), { seq: 2, error: { code: 'CANCELLED' } });
  t.equal((await events.closed).code, 1000);
});

void t.test('a failed checksum ends with upload_error', async (t) => {
  const { id } = await uploads.create({ size: 5, checksum: 'a'.repeat(64) });
  const events = watch(id);
  await uploads.patch(id, 'hello', { offset: 0 });
  t.match(await events.until('upload_error'), { error: { code: 'CHECKSUM_MISMATCH' } });
  events.socket.close();
});

void t.test('while the length is unknown, progress has no share', async (t) => {
  const { id } = await uploads.create({ uploadLengthDeferred: true });
  const events = watch(id);
  await uploads.patch(id, 'hello', { offset: 0 });
  const progress = await events.until('upload_progress');
  t.equal(progress['bytesUploaded'], 5);
  t.notOk('progress' in progress || 'size' in progress);
  events.socket.close();
});

void t.test('many sockets of one upload are told the same', async (t) => {
  const { id } = await uploads.create({ size: 50 });
  const sockets = Array.from({ length: 20 }, () => watch(id));
  await Promise.all(sockets.map((one) => one.until('upload_started')));
  for (let offset = 0; offset < 50; offset += 10) await uploads.patch(id, sampleBytes(10), { offset });
  await Promise.all(sockets.map((one) => one.until('upload_complete')));
  for (const { frames, socket } of sockets) {
    const numbers = frames.slice(1).map(({ seq }) => seq);
    t.same(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      'in order, none twice',
    );
    t.equal(frames.at(-1)?.type, 'upload_complete');
    t.equal(frames.at(-1)?.seq, 7);
    socket.close();
  }
});

void t.test('a ping of the client gets a pong, as a message and as a frame', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  const events = watch(id);
  await events.until('upload_started');
  events.socket.send(JSON.stringify({ type: 'ping' }));
  await events.until('pong');
  const pong = once(events.socket, 'pong');
  events.socket.ping('are you there');
  t.equal(String((await pong)[0]), 'are you there');
  for (const noise of ['', 'null', '{', '{"type":"subscribe"}', 'x'.repeat(4000)]) events.socket.send(noise);
  events.socket.send(Buffer.from([1, 2, 3]));
  events.socket.send('{ "type" : "ping" }');
  await uploads.patch(id, 'hello', { offset: 0 });
  await events.until('upload_complete');
  t.equal(events.frames.filter(({ type }) => type === 'pong').length, 2, 'and nothing else gets an answer');
  events.socket.close();
});

void t.test('a message that is too long closes the socket', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  const events = watch(id);
  await events.until('upload_started');
  events.socket.send('x'.repeat(5000));
  t.equal((await events.closed).code, 1009);
});

const residentMiB = async (): Promise<number> => {
  const sizes = service.pids.map(async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size);
};

/** A socket whose client reads nothing, not even the answer to the handshake. */
const deaf = async (path: string): Promise<Socket> => {
  const { hostname, port, host, pathname } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  const key = randomBytes(16).toString('base64');
  const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`;
  socket.write(`GET ${pathname}${path} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n\r\n`);
  // The service may cut it off.
  return socket.on('error', () => {});
};

/** A final frame of a client, masked with zeros. */
const frameOf = (opcode: number, payload: string): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)]);

void t.test('a client that never reads does not grow the server', async (t) => {
  const { id } = await uploads.create({ size: 5 });
  for (const [title, frame] of [
    ['messages', frameOf(1, '{"type":"ping"}')],
    ['pings', frameOf(9, 'x'.repeat(125))],
  ] as const) {
    const socket = await deaf(`/ws/upload/${id}`);
    const flood = Buffer.concat(Array.from({ length: 10_000 }, () => frame));
    const send = async (times: number) => {
      for (let count = 0; count < times; count += 1) await new Promise((done) => socket.write(flood, done));
    };
    await send(20);
    const before = await residentMiB();
    await send(80);
    const grown = (await residentMiB()) - before;
    t.ok(
      grown < 100,
      `${Math.round(grown)} MiB more after ${Math.round((80 * flood.length) / 2 ** 20)} MiB of ${title}`,
    );
    socket.destroy();
  }
  t.equal((await uploads.patch(id, 'hello', { offset: 0 })).status, 200, 'and others are served');
});
