/** A client whose connection lasts for 6 MiB, and a service whose files are in S3: each connection brings it further. */
import t from 'tap';
import { s3Server } from '../services/s3.ts';
import { startService } from '../support/running-service.ts';
import { s3Settings } from '../support/s3-settings.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

const piece = 6 * 1_048_576;
const s3 = await s3Server();
const skip = s3 === undefined ? 'there is no S3 server' : false;

t.test('an upload that is cut every 6 MiB is finished, and nothing is sent twice', { skip }, async (t) => {
  if (s3 === undefined) return;
  const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0', ...s3Settings(s3) });
  t.teardown(() => service.stop());
  const uploads = uploadClient(service.url);
  const bytes = sampleBytes(40 * 1_048_576 + 1);
  const { id } = await uploads.create({ size: bytes.length });
  for (let offset = 0; offset < bytes.length; offset += piece) {
    t.equal(await uploads.offset(id), offset);
    const http = await uploads.begin(id, { 'upload-offset': offset, 'content-length': bytes.length - offset });
    await http.send(bytes.subarray(offset, offset + piece));
    http.cut();
    const end = Math.min(offset + piece, bytes.length);
    await until(async () => (await uploads.get(id)).offset === end);
  }
  await until(async () => (await uploads.get(id)).status === 'completed');
  t.equal(sha256(await uploads.download(id)), sha256(bytes));
});
