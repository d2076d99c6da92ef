/** A connection that nothing comes from any more does not keep its upload (WIRE 1, rule 5). */
import t, { type Test } from 'tap';
import { startService } from '../support/running-service.ts';
import { storedSize } from '../support/stored-files.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { type FaultProxy, startFaultProxy } from './proxy.ts';

const data = await temporaryDirectory(t);
const service = await startService({ DATA_DIR: data, WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

const bytes = sampleBytes(1_500_000);
const arriving = 1_000_000;

/** A PATCH whose connection falls silent with `arriving` of its bytes at the service. */
const fallSilent = async (proxy: FaultProxy, headers: Record<string, string | number> = { 'upload-offset': 0 }) => {
  const { id } = await uploads.create({ size: bytes.length });
  const http = await uploadClient(proxy.url).begin(id, { 'content-length': bytes.length, ...headers });
  proxy.set({ after: arriving, by: 'silence' });
  void http.send(bytes);
  await until(async () => (await storedSize(data, id)) === arriving);
  return { id, http };
};

/** Milliseconds that HEAD takes, with the offset that it tells. */
const timedOffset = async (id: string) => {
  const begin = performance.now();
  const offset = await uploads.offset(id);
  return { offset, ms: performance.now() - begin };
};

/** The network is well again: what it says to the one that was displaced. */
const requireNoSuccess = async (
  t: Test,
  proxy: FaultProxy,
  http: Awaited<ReturnType<typeof fallSilent>>['http'],
  offset: number,
) => {
  proxy.set({});
  const { status, headers } = await http.response();
  t.equal(status, 409);
  t.equal(headers['upload-offset'], String(offset));
  await http.closed;
};

void t.test('HEAD displaces a PATCH that has fallen silent, in under 100 ms', async (t) => {
  const times: number[] = [];
  // The best of some: what else the machine does is no concern of this.
  for (let round = 0; round < 5; round += 1) {
    const proxy = await startFaultProxy(t, service.url);
    const { id, http } = await fallSilent(proxy);
    const { offset, ms } = await timedOffset(id);
    times.push(ms);
    t.equal(offset, arriving, 'all that arrived counts');
    const rest = await uploads.patch(id, bytes.subarray(offset), { offset });
    t.match(await rest.json(), { status: 'completed' });
    await requireNoSuccess(t, proxy, http, arriving);
    t.equal(sha256(await uploads.download(id)), sha256(bytes), 'and writes nothing more');
  }
  t.ok(Math.min(...times) < 100, `${times.map(Math.round).join(', ')} ms`);
});

void t.test('without Upload-Offset the displaced PATCH rolls back', async (t) => {
  const proxy = await startFaultProxy(t, service.url);
  const { id, http } = await fallSilent(proxy, {});
  t.equal((await timedOffset(id)).offset, 0);
  await requireNoSuccess(t, proxy, http, 0);
  await uploads.patch(id, bytes);
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});

void t.test('DELETE displaces it too', async (t) => {
  const proxy = await startFaultProxy(t, service.url);
  const { id, http } = await fallSilent(proxy);
  t.equal((await uploads.remove(id)).status, 204);
  proxy.set({});
  t.match(String((await http.response()).status), /^(409|410)$/);
  t.equal((await uploads.head(id)).status, 410);
  await t.rejects(storedSize(data, id), { code: 'ENOENT' });
});

void t.test('a PATCH waits for a slow one for five seconds', async (t) => {
  const proxy = await startFaultProxy(t, service.url);
  const { id } = await uploads.create({ size: bytes.length });
  // All or nothing, so that the offset stays where the second one looks for it.
  const slow = await uploadClient(proxy.url).begin(id, { 'content-length': bytes.length });
  proxy.set({ bytesPerSecond: 5000, pieceLength: 1000 });
  void slow.send(bytes);
  await until(async () => (await storedSize(data, id)) > 0);
  const begin = performance.now();
  const locked = await Promise.all([uploads.patch(id, 'x', { offset: 0 }), uploads.patch(id, 'x')]);
  t.ok(performance.now() - begin >= 4900, 'and not less');
  for (const response of locked) {
    t.equal(response.status, 423);
    t.equal(response.headers.get('retry-after'), '1');
    t.equal(((await response.json()) as ErrorBody).code, 'UPLOAD_LOCKED');
  }
  slow.cut();
});
