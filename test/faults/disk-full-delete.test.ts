/** The way out of a full disk: deleting must work when nothing else does. Needs root: `small-disk`. */
import { join } from 'node:path';
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { sampleBytes, uploadClient } from '../support/upload-client.ts';
import { mountSmallDisk, noDisk } from './small-disk.ts';

const mebibyte = 1_048_576;

void t.test('a full disk does not keep anybody from deleting', { skip: noDisk }, async (t) => {
  const disk = await mountSmallDisk(t, 32 * mebibyte);
  const service = await startService({ DATA_DIR: join(disk.directory, 'data'), WORKERS: '0' });
  t.teardown(() => service.stop());
  const uploads = uploadClient(service.url);
  const { id } = await uploads.upload(sampleBytes(4 * mebibyte));
  await disk.leave(0);
  t.equal(await disk.room(), 0);
  t.equal((await uploads.remove(id)).status, 204);
  t.ok((await disk.room()) >= 4 * mebibyte);
  t.equal((await uploads.head(id)).status, 410);
});
