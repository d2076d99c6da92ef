import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import type { UploadRecord } from '../../../src/domain/upload.ts';
import { inputNode, resizeNode } from '../../../src/index.ts';
import type { Entry, KvStore } from '../../../src/ports/kv-store.ts';
import { call, startFlow } from '../../support/api.ts';
import { deliver, scriptedPool } from '../../support/engine-rig.ts';
import { openEvents } from '../../support/event-socket.ts';
import { openSocket } from '../../support/http-socket.ts';
import { type InProcessOptions, serviceInProcess } from '../../support/service-in-process.ts';
import { uploadClient } from '../../support/upload-client.ts';

const start = async (t: Test, options: InProcessOptions = {}) => {
  const service = await serviceInProcess(options);
  t.teardown(() => service.close());
  return { ...service, uploads: uploadClient(service.url) };
};

/** The first `times` timers that were to run after `ms` run after `instead`. */
const shorten = (t: Test, name: 'setTimeout' | 'setInterval', times: number, ms: number, instead: number): void => {
  const original = globalThis[name] as (work: () => void, after: number, ...rest: unknown[]) => unknown;
  let left = times;
  t.intercept(globalThis, name, {
    value: (work: () => void, after: number, ...rest: unknown[]) => {
      const short = after === ms && left > 0;
      if (short) left -= 1;
      return original(work, short ? instead : after, ...rest);
    },
  });
};

/** Puts something in front of reading uploads. */
const readingUploads = (store: KvStore, change: (upload: UploadRecord) => UploadRecord): KvStore => ({
  ...store,
  get: async (collection, id) => {
    const entry = await store.get(collection, id);
    if (collection !== 'uploads' || entry === undefined) return entry;
    return { ...entry, value: change((entry as Entry<UploadRecord>).value) } as typeof entry;
  },
});

t.test('the socket of a job tells its nodes and its end', async (t) => {
  const flow = defineFlow({
    flowId: 'copy',
    name: 'Copy',
    nodes: [inputNode('photo'), resizeNode('small', { width: 1 })],
    edges: [{ source: 'photo', target: 'small' }],
  });
  const { url, uploads } = await start(t, {
    flows: { copy: flow },
    workerPool: scriptedPool((task) => deliver(task, 'x')),
  });
  const { jobId, uploadId } = await startFlow(url, 'copy', 'photo', { name: 'a', type: 'image/png', size: 5 });
  const events = openEvents(url, `/ws/flow/${jobId}`);
  await events.until('flow_paused');
  await uploads.patch(uploadId, 'hello', { offset: 0 });
  const end = await events.until('flow_complete');
  t.match(events.frames[0], { type: 'flow_snapshot', id: jobId, status: 'paused', tasks: [{ nodeId: 'photo' }, {}] });
  t.strictSame(
    events.frames.slice(1).map(({ type, seq }) => `${seq} ${type}`),
    [
      '1 flow_started',
      '2 flow_paused',
      '3 flow_resumed',
      '4 node_started',
      '5 node_completed',
      '6 node_started',
      '7 node_completed',
      '8 flow_complete',
    ],
  );
  t.match(events.frames[6], { jobId, nodeId: 'small', nodeType: 'resize' });
  t.match(end, { jobId, flowId: 'copy', outputs: { small: { url: `/sluice/api/files/${jobId}.small` } } });
  events.socket.close();
});

t.test('a reader that takes nothing for too long is closed with 1013', async (t) => {
  shorten(t, 'setTimeout', 1, 30_000, 300);
  const padding = 'x'.repeat(30_000_000);
  const { url, uploads } = await start(t, {
    wrapRecords: (store) => readingUploads(store, (upload) => ({ ...upload, custom: { padding } })),
  });
  const { id } = await call(url, 'POST', '/api/upload', { size: 5 }).then(({ body }) => body);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/upload/${id}`);
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve) => socket.on('open', resolve));
  socket.pause();
  await uploads.patch(id, 'hello', { offset: 0 });
  setTimeout(() => socket.resume(), 1500);
  t.equal(await closed, 1013);
});

t.test('a peer that answers no protocol ping is given up', async (t) => {
  shorten(t, 'setInterval', 2, 25_000, 100);
  const { url, uploads } = await start(t);
  const { id } = await uploads.create({ size: 5 });
  const connect = (autoPong: boolean) => new WebSocket(`${url.replace('http', 'ws')}/ws/upload/${id}`, { autoPong });
  const [silent, well] = [connect(false), connect(true)];
  let pings = 0;
  await new Promise((resolve) => {
    well.on('ping', () => {
      pings += 1;
    });
    silent.on('close', resolve);
  });
  t.ok(pings >= 2);
  t.equal(well.readyState, WebSocket.OPEN, 'one that answers stays');
  well.close();
});

t.test('an error inside closes the socket with 1011 and is logged', async (t) => {
  const { url, uploads, log } = await start(t, {
    wrapRecords: (store) => ({ ...store, events: () => Promise.reject(new Error('disk on fire')) }),
  });
  const { id } = await uploads.create({ size: 5 });
  const events = openEvents(url, `/ws/upload/${id}`);
  t.match(await events.closed, { code: 1011, reason: 'internal error' });
  t.match(
    log.filter(({ level }) => level === 50),
    [{ msg: 'socket failed', err: { message: 'disk on fire' } }],
  );
});

t.test('a store that does not answer closes the socket with 1013: its client may come again', async (t) => {
  const { url, uploads, log } = await start(t, {
    wrapRecords: (store) => ({ ...store, events: () => Promise.reject(new ServiceError('UNAVAILABLE')) }),
  });
  const { id } = await uploads.create({ size: 5 });
  t.match(await openEvents(url, `/ws/upload/${id}`).closed, { code: 1013, reason: 'try again later' });
  t.strictSame(
    log.filter(({ level }) => Number(level) >= 40).map(({ level, msg }) => `${level} ${msg}`),
    ['40 socket failed'],
  );
});

t.test("another client's upload is as unknown as one that never was", async (t) => {
  const { url, uploads } = await start(t, {
    wrapRecords: (store) => readingUploads(store, (upload) => ({ ...upload, clientId: 'ann' })),
  });
  const { id } = await uploads.create({ size: 5 });
  const events = openEvents(url, `/ws/upload/${id}`);
  t.match(await events.closed, { code: 4004 });
  t.strictSame(events.frames, []);
});

t.test('without an upgrade there is nothing at the address of a socket', async (t) => {
  const { url, uploads } = await start(t);
  const { id } = await uploads.create({ size: 5 });
  const { status, body } = await call(url, 'GET', `/ws/upload/${id}`);
  t.equal(status, 404);
  t.match(body, { code: 'NOT_FOUND', message: 'This address speaks WebSocket only' });
  t.equal((await call(url, 'POST', `/ws/upload/${id}`)).status, 405);
});

t.test('an upgrade where no socket is gets an answer and leaves nothing open', async (t) => {
  const { url } = await start(t);
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': 13,
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  for (const [path, expected] of [
    ['/ws/nope/x', 404],
    ['/nope', 404],
    ['/ws/upload/%zz', 400],
    [`/ws/upload/${'x'.repeat(300)}`, 400],
  ] as const) {
    const http = await openSocket(url);
    await http.request('GET', path, upgrade);
    const { status, body } = await http.response();
    t.equal(status, expected, path);
    t.match(JSON.parse(body), { code: String, requestId: String });
    await http.closed;
  }
  const version = await openSocket(url);
  await version.request('GET', '/ws/upload/x', { ...upgrade, 'sec-websocket-version': 7 });
  t.ok((await version.response()).status >= 400);
  await version.closed;
});

t.test('a watcher that leaves is forgotten', async (t) => {
  let reads = 0;
  const { url, uploads } = await start(t, {
    wrapRecords: (store) => ({
      ...store,
      events: (...args) => {
        reads += 1;
        return store.events(...args);
      },
    }),
  });
  const { id } = await uploads.create({ size: 20 });
  const [leaver, stayer] = [openEvents(url, `/ws/upload/${id}`), openEvents(url, `/ws/upload/${id}`)];
  await Promise.all([leaver.until('upload_started'), stayer.until('upload_started')]);
  leaver.socket.close();
  await leaver.closed;
  const before = reads;
  await uploads.patch(id, 'x'.repeat(20), { offset: 0 });
  await stayer.until('upload_complete');
  t.ok(reads - before <= 2, `${reads - before} reads of the log for one watcher`);
  t.ok(reads > before);
  stayer.socket.close();
});
