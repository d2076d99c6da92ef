/** The answer was lost, and the client sends the same bytes again without knowing (WIRE 1, rules 3 and 11). */
import t, { type Test } from 'tap';
import type { RunningService } from '../support/running-service.ts';
import { storedSize } from '../support/stored-files.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { prepareLives } from './lives.ts';
import { startFaultProxy } from './proxy.ts';

const openLives = await prepareLives(t, { WORKERS: '0' });
const lives = await openLives(t);
const service = await lives.start();
const uploads = uploadClient(service.url);

/** Sent in chunks of equal length; the second and the third are the same. */
const chunkLength = 200_000;
const chunk = sampleBytes(chunkLength);
const bytes = Buffer.concat([Buffer.alloc(chunkLength), chunk, chunk]);

/** Sends a body and cuts its connection with the last byte, before the service can have answered. */
const loseResponse = async (
  t: Test,
  { url }: RunningService,
  id: string,
  body: Buffer,
  by: 'fin' | 'rst',
  headers: Record<string, string | number> = {},
) => {
  const { offset } = await uploadClient(url).get(id);
  const proxy = await startFaultProxy(t, url);
  const http = await uploadClient(proxy.url).begin(id, { 'content-length': body.length, ...headers });
  await http.send(body.subarray(0, -1));
  await until(async () => (await storedSize(lives.data, id)) === offset + body.length - 1);
  proxy.set({ after: 1, by });
  await http.send(body.subarray(-1));
  await http.closed;
  await until(async () => (await uploadClient(url).get(id)).offset === offset + body.length);
};

/** An upload whose first chunk was answered, and whose second chunk was not heard of any more. */
const loseSecond = async (t: Test, by: 'fin' | 'rst'): Promise<string> => {
  const { id } = await uploads.create({ size: bytes.length });
  await uploads.patch(id, bytes.subarray(0, chunkLength));
  await loseResponse(t, service, id, chunk, by);
  return id;
};

const requireOffset = async (t: Test, response: Response, offset: number) => {
  t.equal(response.status, 200);
  t.equal(response.headers.get('upload-offset'), String(offset));
  t.match(await response.json(), { offset });
};

for (const by of ['fin', 'rst'] as const) {
  void t.test(`the same bytes again after a ${by.toUpperCase()} are answered, not appended`, async (t) => {
    const id = await loseSecond(t, by);
    await requireOffset(t, await uploads.patch(id, chunk), 2 * chunkLength);
    await requireOffset(t, await uploads.patch(id, chunk), 3 * chunkLength);
    t.equal((await uploads.get(id)).status, 'completed');
    t.equal(sha256(await uploads.download(id)), sha256(bytes), 'after an answer that was delivered they are');
  });
}

void t.test('also when the answer to the repetition is lost', async (t) => {
  const id = await loseSecond(t, 'rst');
  const proxy = await startFaultProxy(t, service.url);
  const http = await uploadClient(proxy.url).begin(id, { 'content-length': chunkLength });
  await http.send(chunk.subarray(0, -1));
  proxy.set({ after: 1, by: 'rst' });
  await http.send(chunk.subarray(-1));
  await http.closed;
  await requireOffset(t, await uploads.patch(id, chunk), 2 * chunkLength);
});

void t.test('other bytes are appended', async (t) => {
  for (const other of [bytes.subarray(0, chunkLength), chunk.subarray(1)]) {
    const id = await loseSecond(t, 'rst');
    await requireOffset(t, await uploads.patch(id, other), 2 * chunkLength + other.length);
  }
});

void t.test('HEAD tells the offset, so what follows is no repetition', async (t) => {
  const id = await loseSecond(t, 'rst');
  t.equal(await uploads.offset(id), 2 * chunkLength);
  await requireOffset(t, await uploads.patch(id, chunk, { offset: 2 * chunkLength }), 3 * chunkLength);
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});

for (const offset of [undefined, 2 * chunkLength]) {
  const title = offset === undefined ? 'without Upload-Offset' : 'with Upload-Offset';
  void t.test(`a repeated last PATCH ${title} repeats the result`, async (t) => {
    const { id } = await uploads.create({ size: bytes.length });
    await uploads.patch(id, bytes.subarray(0, 2 * chunkLength));
    await loseResponse(t, service, id, chunk, 'rst', offset === undefined ? {} : { 'upload-offset': offset });
    for (let time = 0; time < 2; time += 1) {
      const again = await uploads.patch(id, chunk, { offset });
      t.equal(again.status, 200);
      t.strictSame(await again.json(), await uploads.get(id));
    }
    t.equal(sha256(await uploads.download(id)), sha256(bytes));
  });
}

void t.test('the next life of the service knows a repetition too', async (t) => {
  const id = await loseSecond(t, 'rst');
  await service.stop('SIGKILL');
  const next = uploadClient((await lives.start()).url);
  await requireOffset(t, await next.patch(id, chunk), 2 * chunkLength);
  await requireOffset(t, await next.patch(id, chunk), 3 * chunkLength);
  t.equal(sha256(await next.download(id)), sha256(bytes));
});
