/** The request came whole and the answer was lost: the client that names its offset finds its way (WIRE 1, rule 11). */
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { startFaultProxy } from './proxy.ts';

const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);
const proxy = await startFaultProxy(t, service.url);

const bytes = sampleBytes(300_000);

/** An upload at `from`, and then a PATCH of all bytes up to `to` whose answer the client does not get. */
const loseResponse = async (from: number, to: number): Promise<string> => {
  const { id } = await uploads.create({ size: bytes.length });
  if (from > 0) await uploads.patch(id, bytes.subarray(0, from), { offset: 0 });
  proxy.set({});
  const headers = { 'upload-offset': from, 'content-length': to - from };
  const http = await uploadClient(proxy.url).begin(id, headers);
  proxy.set({ before: 'HTTP/1.1 200', by: 'rst' });
  await http.send(bytes.subarray(from, to));
  await http.closed;
  return id;
};

void t.test('of a PATCH on the way', async (t) => {
  const id = await loseResponse(100_000, 200_000);
  t.equal(await uploads.offset(id), 200_000, 'its bytes count');
  const again = await uploads.patch(id, bytes.subarray(100_000, 200_000), { offset: 100_000 });
  t.equal(again.status, 409, 'and do not count twice');
  t.equal(again.headers.get('upload-offset'), '200000');
  t.equal(again.headers.get('upload-complete'), '?0');
  await uploads.patch(id, bytes.subarray(200_000), { offset: 200_000 });
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});

void t.test('of the last PATCH', async (t) => {
  const id = await loseResponse(200_000, 300_000);
  const recorded = await uploads.get(id);
  t.match(recorded, { status: 'completed', offset: bytes.length });
  for (let time = 0; time < 2; time += 1) {
    const head = await uploads.head(id);
    t.equal(head.status, 200);
    t.equal(head.headers.get('upload-offset'), String(bytes.length));
    t.equal(head.headers.get('upload-complete'), '?1');
    const empty = await uploads.patch(id, '', { offset: bytes.length });
    t.equal(empty.status, 200, 'an empty PATCH at the end');
    t.equal(empty.headers.get('upload-offset'), String(bytes.length));
    t.strictSame(await empty.json(), recorded);
  }
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});
