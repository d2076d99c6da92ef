/** A slow client that stalls for good: the idle timer ends its body, and what arrived is kept (WIRE 1, rule 10). */
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { storedSize } from '../support/stored-files.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { startFaultProxy } from './proxy.ts';

const data = await temporaryDirectory(t);
const service = await startService({ DATA_DIR: data, WORKERS: '0', UPLOAD_IDLE_TIMEOUT: '2s' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

const bytes = sampleBytes(50_000);
const arriving = 15_000;

void t.test('a client at 5 KB/s that stalls', async (t) => {
  const proxy = await startFaultProxy(t, service.url);
  const { id } = await uploads.create({ size: bytes.length });
  const http = await uploadClient(proxy.url).begin(id, { 'upload-offset': 0, 'content-length': bytes.length });
  proxy.set({ bytesPerSecond: 5000, pieceLength: 500 });
  void http.send(bytes.subarray(0, arriving));
  await until(async () => (await storedSize(data, id)) === arriving);
  t.pass('three seconds of slow bytes are no reason to end it');
  await until(async () => (await uploads.get(id)).offset === arriving);
  const { status, headers } = await http.response();
  t.equal(status, 503, 'and neither 408 nor 429, which clients take as final');
  t.equal(headers['retry-after'], '1');
  t.equal(headers['connection'], 'close');
  await http.closed;
  t.equal(await uploads.offset(id), arriving);
  await uploads.patch(id, bytes.subarray(arriving), { offset: arriving });
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});
