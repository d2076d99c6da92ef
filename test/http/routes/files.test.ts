import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import { inputNode, resizeNode } from '../../../src/index.ts';
import type { DataStore } from '../../../src/ports/data-store.ts';
import { call, ended, startFlow } from '../../support/api.ts';
import { deliver, scriptedPool } from '../../support/engine-rig.ts';
import { openEvents } from '../../support/event-socket.ts';
import { type InProcessOptions, serviceInProcess } from '../../support/service-in-process.ts';
import { uploadClient } from '../../support/upload-client.ts';

const start = async (t: Test, options: InProcessOptions = {}) => {
  const service = await serviceInProcess(options);
  t.teardown(() => service.close());
  return { ...service, uploads: uploadClient(service.url) };
};

const copy = defineFlow({
  flowId: 'copy',
  name: 'Copy',
  nodes: [inputNode('photo'), resizeNode('small', { width: 1 })],
  edges: [{ source: 'photo', target: 'small' }],
});

t.test('an output of a job is a file like an upload, named by the job and its key', async (t) => {
  const { url, uploads } = await start(t, {
    flows: { copy },
    workerPool: scriptedPool((task) => deliver(task, 'made of it')),
  });
  const { jobId, uploadId } = await startFlow(url, 'copy', 'photo', { name: 'a.jpg', type: 'image/jpeg', size: 5 });
  await uploads.patch(uploadId, 'hello', { offset: 0 });
  const job = await ended(url, jobId);
  t.equal(job.status, 'completed');
  t.equal(job.outputs.small.url, `/sluice/api/files/${jobId}.small`);

  const response = await fetch(new URL(job.outputs.small.url, url));
  t.equal(await response.text(), 'made of it');
  t.match(response.headers.get('etag'), /^"0-[0-9a-f]{12}/, 'its tag is the hash of the bytes');
  t.match(response.headers.get('content-disposition'), 'filename="a.jpg"');
  t.equal(response.headers.get('content-type'), 'image/jpeg');
  const range = await fetch(new URL(job.outputs.small.url, url), { headers: { range: 'bytes=5-6' } });
  t.equal(await range.text(), 'of');
  for (const id of [`${jobId}.`, `${jobId}.photo`, `${jobId}.small.1`, '.small', 'nope.small', `${jobId}.__proto__`]) {
    t.equal((await call(url, 'GET', `/api/files/${id}`)).status, 404, id);
  }
});

t.test('bytes that are gone are 410, and the error is not dressed up as the file', async (t) => {
  const { url, uploads, directory } = await start(t);
  const { id } = await uploads.upload('hello', { fileName: 'a.txt', type: 'text/plain' });
  await rm(`${directory}/files/uploads/${id}`);
  const response = await fetch(`${url}/api/files/${id}`, { headers: { range: 'bytes=0-1' } });
  t.equal(response.status, 410);
  t.match(response.headers.get('content-type'), 'application/json');
  for (const name of ['content-disposition', 'content-range', 'etag', 'last-modified', 'accept-ranges']) {
    t.equal(response.headers.get(name), null, name);
  }
  t.match(await response.json(), { code: 'FILE_NO_LONGER_EXISTS' });
});

/** Replaces what the store reads. */
const reading = (store: DataStore, read: DataStore['read']): DataStore => ({ ...store, read });

t.test(
  'a store that fails while a file is sent cuts the connection, so that nobody takes half for the whole',
  async (t) => {
    const { url, uploads } = await start(t, {
      wrapData: (store) =>
        reading(store, async () =>
          Readable.from(
            (async function* () {
              yield Buffer.from('hel');
              throw new Error('bad sector');
            })(),
          ),
        ),
    });
    const { id } = await uploads.upload('hello');
    const response = await fetch(`${url}/api/files/${id}`);
    t.equal(response.status, 200);
    await t.rejects(response.text());
    t.equal((await fetch(`${url}/api/health`)).status, 200);
  },
);

t.test('a client that leaves ends the reading', async (t) => {
  const streams: Readable[] = [];
  const { url, uploads } = await start(t, {
    wrapData: (store) =>
      reading(store, async (...args) => {
        const stream = await store.read(...args);
        streams.push(stream);
        return stream;
      }),
  });
  const { id } = await uploads.upload(Buffer.alloc(16_000_000));
  const leaving = new AbortController();
  const response = await fetch(`${url}/api/files/${id}`, { signal: leaving.signal });
  const [stream] = streams;
  const closed = new Promise((resolve) => stream?.on('close', resolve));
  leaving.abort();
  await t.rejects(response.arrayBuffer());
  await closed;
  t.equal(streams.length, 1);
});

t.test('HEAD and fresh copies open nothing', async (t) => {
  let opened = 0;
  const { url, uploads } = await start(t, {
    wrapData: (store) =>
      reading(store, (...args) => {
        opened += 1;
        return store.read(...args);
      }),
  });
  const { id } = await uploads.upload('hello');
  await fetch(`${url}/api/files/${id}`, { method: 'HEAD' });
  await fetch(`${url}/api/files/${id}`, { headers: { 'if-none-match': '*' } });
  await fetch(`${url}/api/files/${id}`, { headers: { range: 'bytes=9-' } });
  t.equal(opened, 0);
  await fetch(`${url}/api/files/${id}`);
  t.equal(opened, 1);
});

t.test('where addresses are signed, whoever has one reads that file, and nobody else', async (t) => {
  const { url, uploads } = await start(t, {
    files: { secret: 'a secret of this test', ttl: 60_000 },
    flows: { copy },
    workerPool: scriptedPool((task) => deliver(task, 'made of it')),
  });
  const { id, url: address } = await uploads.upload('hello');
  const { id: other } = await uploads.upload('other');
  const signed = new URL(String(address), url);
  t.equal(await (await fetch(signed)).text(), 'hello');
  t.equal((await fetch(signed, { method: 'HEAD' })).status, 200);
  t.equal((await fetch(signed, { headers: { range: 'bytes=1-2' } })).status, 206);

  t.match(await call(url, 'GET', `/api/files/${id}`), { status: 401, body: { code: 'UNAUTHORIZED' } });
  t.match(await call(url, 'GET', `/api/files/${other}${signed.search}`), { status: 403, body: { code: 'FORBIDDEN' } });
  t.equal((await call(url, 'GET', `/api/files/none`)).status, 401, 'before anybody learns whether there is one');
  const later = signed.search.replace(/\d+/, (seconds) => String(Number(seconds) + 1));
  t.equal((await call(url, 'GET', `/api/files/${id}${later}`)).status, 403);
  t.equal((await call(url, 'GET', `/api/files/${id}${signed.search}&signature=x`)).status, 400);

  const started = await startFlow(url, 'copy', 'photo', { name: 'a.jpg', type: 'image/jpeg', size: 5 });
  await uploads.patch(started.uploadId, 'hello', { offset: 0 });
  const job = await ended(url, started.jobId);
  t.equal(await (await fetch(new URL(job.outputs.small.url, url))).text(), 'made of it', 'outputs too');
  const frames = openEvents(url, `/ws/flow/${started.jobId}`);
  const complete = (await frames.until('flow_complete')) as unknown as typeof job;
  t.equal((await fetch(new URL(complete.outputs.small.url, url))).status, 200, 'and as a frame tells it');
});

t.test('a store that signs addresses itself has its files fetched there', async (t) => {
  const asked: unknown[] = [];
  const { url, uploads } = await start(t, {
    files: { mode: 'redirect', ttl: 90_500 },
    wrapData: (store) => ({
      ...store,
      async presign(...args) {
        asked.push(args);
        return 'https://store.example.org/x?signed';
      },
    }),
  });
  const { id } = await uploads.upload('hello', { fileName: 'a.txt', type: 'text/plain' });
  const get = (init: RequestInit) => fetch(`${url}/api/files/${id}`, { redirect: 'manual', ...init });
  const response = await get({});
  t.equal(response.status, 302);
  t.equal(response.headers.get('location'), 'https://store.example.org/x?signed');
  t.equal(response.headers.get('cache-control'), 'no-store');
  const contentDisposition = `inline; filename="a.txt"; filename*=UTF-8''a.txt`;
  t.strictSame(asked, [[`uploads/${id}`, { expiresIn: 91, contentType: 'text/plain', contentDisposition }]]);
  t.equal((await get({ method: 'HEAD' })).status, 200, 'but the service knows what HEAD asks for');
  t.equal((await get({ headers: { 'if-none-match': `"${id}"` } })).status, 304);
  const empty = await uploads.create({ size: 0 });
  t.equal((await fetch(`${url}/api/files/${empty.id}`, { redirect: 'manual' })).status, 200);
  t.equal(asked.length, 1);
});

t.test('a store that does not has them sent by the service', async (t) => {
  const { url, uploads } = await start(t, { files: { mode: 'redirect' } });
  const { id } = await uploads.upload('hello');
  t.equal(await (await fetch(`${url}/api/files/${id}`, { redirect: 'error' })).text(), 'hello');
});
