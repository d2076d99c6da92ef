/** The service with its files in S3. */
import t from 'tap';
import { s3Server } from '../services/s3.ts';
import { startService } from '../support/running-service.ts';
import { s3Settings } from '../support/s3-settings.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';

const s3 = await s3Server();
const skip = s3 === undefined ? 'there is no S3 server' : false;

t.test('one PATCH of more parts than are reserved at a time, committed on the way', { skip }, async (t) => {
  if (s3 === undefined) return;
  const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0', ...s3Settings(s3) });
  t.teardown(() => service.stop());
  const uploads = uploadClient(service.url);
  // Repeated out of step with the parts, so that no two of them are the same.
  const bytes = Buffer.alloc(160 * 1_048_576 + 1, sampleBytes(1_000_003));
  const { id } = await uploads.upload(bytes);
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
  const range = await fetch(`${service.url}/api/files/${id}`, { headers: { range: 'bytes=100000000-100000009' } });
  t.same(Buffer.from(await range.arrayBuffer()), bytes.subarray(100_000_000, 100_000_010));
  t.equal((await uploads.remove(id)).status, 204);
  t.equal((await fetch(`${service.url}/api/files/${id}`)).status, 410);
});
