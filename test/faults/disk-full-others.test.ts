/** What does not fit gives back the room it has taken, so that the others go on. Needs root: `small-disk`. */
import { join } from 'node:path';
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { mountSmallDisk, noDisk } from './small-disk.ts';

const mebibyte = 1_048_576;

void t.test('an upload that does not fit takes no room from those that do', { skip: noDisk }, async (t) => {
  const disk = await mountSmallDisk(t, 32 * mebibyte);
  const service = await startService({ DATA_DIR: join(disk.directory, 'data'), WORKERS: '0' });
  t.teardown(() => service.stop());
  const uploads = uploadClient(service.url);
  const large = await uploads.create({ size: 12 * mebibyte });
  await disk.leave(6 * mebibyte);
  for (const offset of [0, undefined]) {
    const response = await uploads.patch(large.id, sampleBytes(12 * mebibyte), { offset });
    t.equal(response.status, 507);
    const small = sampleBytes(mebibyte);
    const { id } = await uploads.create({ size: small.length });
    t.equal((await uploads.patch(id, small, { offset: 0 })).status, 200);
    t.equal(sha256(await uploads.download(id)), sha256(small));
  }
  t.ok((await disk.room()) >= 3 * mebibyte);
});
