/** A connection that is cut at every sixteenth of a body (WIRE 1, rules 2 and 3). */
import t, { type Test } from 'tap';
import { startService } from '../support/running-service.ts';
import { storedSize } from '../support/stored-files.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { startFaultProxy } from './proxy.ts';

const data = await temporaryDirectory(t);
const service = await startService({ DATA_DIR: data, WORKERS: '0' });
t.teardown(() => service.stop());
const proxy = await startFaultProxy(t, service.url);
const uploads = uploadClient(service.url);
const throughProxy = uploadClient(proxy.url);

/** What is sent, more than the service keeps in memory of one body; the first part by a PATCH that nobody disturbs. */
const bytes = sampleBytes(1_300_000);
const first = 100_000;
const body = bytes.subarray(first);

/** How the body's end is told, and the bytes that frame it. */
const framings = [
  { name: 'Content-Length', header: { 'content-length': body.length }, before: Buffer.alloc(0) },
  {
    name: 'chunked',
    header: { 'transfer-encoding': 'chunked' },
    before: Buffer.from(`${body.length.toString(16)}\r\n`),
  },
];

type Framing = (typeof framings)[number];

const beginUpload = async (): Promise<string> => {
  const { id } = await uploads.create({ size: bytes.length });
  await uploads.patch(id, bytes.subarray(0, first), { offset: 0 });
  return id;
};

/** Begins a PATCH and lets so many bytes of its body come to the service; resolves when they are all there. */
const sendPart = async (id: string, framing: Framing, arriving: number, offset?: number) => {
  proxy.set({});
  const http = await throughProxy.begin(id, {
    ...framing.header,
    ...(offset === undefined ? {} : { 'upload-offset': offset }),
  });
  proxy.set({ after: framing.before.length + arriving, by: 'silence' });
  void http.send(framing.before).then(() => http.send(body));
  await until(async () => (await storedSize(data, id)) === first + arriving);
  return http;
};

/** The same, and the connection is gone then. */
const cutPart = async (by: 'fin' | 'rst', ...args: Parameters<typeof sendPart>): Promise<void> => {
  const http = await sendPart(...args);
  proxy.set({ after: 0, by });
  await http.closed;
};

const requireResumable = async (t: Test, id: string, offset: number) => {
  const response = await uploads.patch(id, bytes.subarray(offset), { offset });
  t.match(await response.json(), { status: 'completed', offset: bytes.length });
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
};

for (const by of ['fin', 'rst'] as const) {
  for (const framing of framings) {
    void t.test(`cut by ${by.toUpperCase()}, ${framing.name}`, async (t) => {
      for (let sixteenth = 0; sixteenth < 16; sixteenth += 1) {
        const arriving = Math.floor((body.length * sixteenth) / 16);
        await t.test(`after ${sixteenth}/16`, async (t) => {
          const kept = await beginUpload();
          await cutPart(by, kept, framing, arriving, first);
          t.equal(await uploads.offset(kept), first + arriving, 'with Upload-Offset all that arrived is kept');
          await requireResumable(t, kept, first + arriving);

          const rolledBack = await beginUpload();
          await cutPart(by, rolledBack, framing, arriving);
          t.equal(await uploads.offset(rolledBack), first, 'without, nothing of it is');
          await requireResumable(t, rolledBack, first);
        });
      }
    });
  }
}

void t.test('a reset in full flight keeps no more than was sent', async (t) => {
  for (let sixteenth = 1; sixteenth < 16; sixteenth += 1) {
    const arriving = Math.floor((bytes.length * sixteenth) / 16);
    proxy.set({ pieceLength: 1 + sixteenth * 4099 });
    const { id } = await uploads.create({ size: bytes.length });
    const http = await throughProxy.begin(id, { 'upload-offset': 0, 'content-length': bytes.length });
    proxy.set({ after: arriving, by: 'rst', pieceLength: 1 + sixteenth * 4099 });
    await Promise.all([http.send(bytes), http.closed]);
    const offset = await uploads.offset(id);
    t.ok(offset >= 0 && offset <= arriving, `${offset} of ${arriving}`);
    await requireResumable(t, id, offset);
  }
});

void t.test('a body in pieces of a few bytes arrives whole', async (t) => {
  const some = bytes.subarray(0, 5000);
  const { id } = await uploads.create({ size: some.length });
  proxy.set({ pieceLength: 7 });
  const response = await throughProxy.patch(id, some, { offset: 0 });
  t.match(await response.json(), { status: 'completed' });
  t.equal(sha256(await uploads.download(id)), sha256(some));
});
