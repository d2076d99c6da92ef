/** What a client that says nothing for a while keeps, and how long it keeps others waiting (WIRE 1, rules 2 and 5). */
import t, { type Test } from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { startFaultProxy } from './proxy.ts';

// Nothing here is the work of the idle timer, which would come after a minute.
const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

const bytes = sampleBytes(50_000);
const arriving = 8_000;

/** A PATCH at 5 KB/s that falls silent with its connection open. */
const fallSilent = async (t: Test, headers: Record<string, string | number> = { 'upload-offset': 0 }) => {
  const proxy = await startFaultProxy(t, service.url);
  const { id } = await uploads.create({ size: bytes.length });
  const http = await uploadClient(proxy.url).begin(id, { 'content-length': bytes.length, ...headers });
  proxy.set({ bytesPerSecond: 5000, pieceLength: 500, after: arriving, by: 'silence' });
  void http.send(bytes);
  await until(() => proxy.cuts > 0);
  return { proxy, id, http };
};

/** Resolves once all that arrived is committed. GET does not disturb the writer. */
const committed = (id: string): Promise<void> => until(async () => (await uploads.get(id)).offset === arriving, 10_000);

void t.test('what has arrived is committed while the client is silent', async (t) => {
  const { proxy, id, http } = await fallSilent(t);
  const begin = performance.now();
  await committed(id);
  t.comment(`committed after ${Math.round(performance.now() - begin)} ms of silence`);
  t.match(await uploads.get(id), { status: 'uploading' });
  proxy.set({});
  t.equal((await http.response()).status, 200, 'and the client may go on as if nothing had been');
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
  http.cut();
});

void t.test('a PATCH at the committed offset goes on where a silent one has stopped', async (t) => {
  const { proxy, id, http } = await fallSilent(t);
  await committed(id);
  const rest = await uploads.patch(id, bytes.subarray(arriving), { offset: arriving });
  t.equal(rest.status, 200);
  t.match(await rest.json(), { status: 'completed' });
  proxy.set({});
  t.equal((await http.response()).status, 409, 'the silent one gets no success');
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});

void t.test('a PATCH at the offset where a silent one began is told how far that came', async (t) => {
  const { proxy, id, http } = await fallSilent(t);
  const response = await uploads.patch(id, bytes, { offset: 0 });
  t.equal(response.status, 409);
  const told = Number(response.headers.get('upload-offset'));
  t.ok(told > 0 && told <= arriving, `${told}`);
  t.equal(await uploads.offset(id), arriving);
  http.cut();
  proxy.set({});
});

void t.test('a silent PATCH without Upload-Offset is rolled back for the next one', async (t) => {
  for (const offset of [0, undefined]) {
    const { proxy, id, http } = await fallSilent(t, {});
    const response = await uploads.patch(id, bytes, { offset });
    t.equal(response.status, 200);
    t.match(await response.json(), { status: 'completed' });
    proxy.set({});
    t.equal((await http.response()).status, 409);
    t.equal(sha256(await uploads.download(id)), sha256(bytes));
  }
});
