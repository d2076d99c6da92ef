/** More bytes than the upload has (WIRE 1, rule 4): refused, and the upload goes on as if nothing had been. */
import t, { type Test } from 'tap';
import { openSocket } from '../support/http-socket.ts';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { chunk, type ErrorBody, patchType, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { startFaultProxy } from './proxy.ts';

const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);
const proxy = await startFaultProxy(t, service.url);

const bytes = sampleBytes(400_000);
const first = 100_000;

const beginUpload = async (): Promise<string> => {
  const { id } = await uploads.create({ size: bytes.length });
  await uploads.patch(id, bytes.subarray(0, first), { offset: 0 });
  return id;
};

const requireExceeded = (t: Test, response: { readonly status: number; readonly body: string }) => {
  t.equal(response.status, 413);
  t.equal((JSON.parse(response.body) as ErrorBody).code, 'ERR_SIZE_EXCEEDED');
};

const requireResumable = async (t: Test, id: string, offset: number) => {
  t.match(await uploads.get(id), { status: 'uploading', offset });
  const response = await uploads.patch(id, bytes.subarray(offset), { offset });
  t.match(await response.json(), { status: 'completed', offset: bytes.length });
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
};

const withOffset = (offset: number) => [{ 'upload-offset': offset }, {}];

void t.test('by Content-Length: refused before a byte of the body', async (t) => {
  for (const headers of withOffset(first)) {
    const id = await beginUpload();
    const http = await openSocket(service.url);
    await http.request('PATCH', `/api/upload/${id}`, {
      'content-type': patchType,
      'content-length': bytes.length - first + 1,
      ...headers,
    });
    requireExceeded(t, await http.response());
    http.cut();
    await requireResumable(t, id, first);
  }
});

void t.test('chunked, in pieces: stops at the size and drops what was not committed', async (t) => {
  for (const headers of withOffset(first)) {
    for (const excess of [1, 200_000]) {
      const id = await beginUpload();
      proxy.set({ pieceLength: 1499 });
      const http = await uploadClient(proxy.url).begin(id, { 'transfer-encoding': 'chunked', ...headers });
      void http.send(chunk(Buffer.concat([bytes.subarray(first), Buffer.alloc(excess)])));
      requireExceeded(t, await http.response());
      http.cut();
      await requireResumable(t, id, first);
    }
  }
});

void t.test('chunked and slow: keeps what was committed on the way', async (t) => {
  const id = await beginUpload();
  proxy.set({});
  const headers = { 'transfer-encoding': 'chunked', 'upload-offset': first };
  const http = await uploadClient(proxy.url).begin(id, headers);
  proxy.set({ bytesPerSecond: 20_000, pieceLength: 1000 });
  void http.send(chunk(Buffer.concat([bytes.subarray(first), Buffer.alloc(1)])));
  await until(async () => (await uploads.get(id)).offset > first);
  const { offset: committed } = await uploads.get(id);
  proxy.set({});
  requireExceeded(t, await http.response());
  http.cut();
  const offset = await uploads.offset(id);
  t.ok(offset >= committed && offset < bytes.length, `${offset} after ${committed}`);
  await requireResumable(t, id, offset);
});
