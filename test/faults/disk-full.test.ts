/** A disk without room: the upload says so, loses nothing, and goes on once there is room. Needs root: `small-disk`. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startService } from '../support/running-service.ts';
import { type ErrorBody, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { mountSmallDisk, noDisk } from './small-disk.ts';

const mebibyte = 1_048_576;

const bytes = sampleBytes(12 * mebibyte);
const first = mebibyte;

/** A service that has answered the first bytes of an upload, and room for half of the rest. */
const fillUp = async (t: Test) => {
  const disk = await mountSmallDisk(t, 32 * mebibyte);
  const service = await startService({ DATA_DIR: join(disk.directory, 'data'), WORKERS: '0' });
  t.teardown(() => service.stop());
  const uploads = uploadClient(service.url);
  const { id } = await uploads.create({ size: bytes.length });
  await uploads.patch(id, bytes.subarray(0, first), { offset: 0 });
  await disk.leave(6 * mebibyte);
  return { disk, service, uploads, id };
};

const requireFull = async (t: Test, response: Response) => {
  t.equal(response.status, 507);
  t.equal(((await response.json()) as ErrorBody).code, 'STORAGE_FULL');
};

for (const withOffset of [true, false]) {
  const at = (offset: number) => (withOffset ? { offset } : {});
  void t.test(
    `a PATCH that does not fit, ${withOffset ? 'with' : 'without'} Upload-Offset`,
    { skip: noDisk },
    async (t) => {
      const { disk, service, uploads, id } = await fillUp(t);
      let kept = first;
      for (let time = 0; time < 2; time += 1) {
        await requireFull(t, await uploads.patch(id, bytes.subarray(kept), at(kept)));
        kept = await uploads.offset(id);
        t.ok(kept >= first && kept < bytes.length && (withOffset || kept === first), `the offset is ${kept}`);
        t.match(await uploads.get(id), { status: 'uploading', offset: kept });
        t.equal((await fetch(`${service.url}/api/health`)).status, 200);
      }
      await disk.clear();
      const rest = await uploads.patch(id, bytes.subarray(kept), at(kept));
      t.match(await rest.json(), { status: 'completed', offset: bytes.length });
      t.equal(sha256(await uploads.download(id)), sha256(bytes));
    },
  );
}

void t.test('the next life of the service goes on as well', { skip: noDisk }, async (t) => {
  const { disk, service, uploads, id } = await fillUp(t);
  await requireFull(t, await uploads.patch(id, bytes.subarray(first), { offset: first }));
  const kept = await uploads.offset(id);
  await service.stop('SIGKILL');
  await disk.clear();
  const next = await startService({ DATA_DIR: join(disk.directory, 'data'), WORKERS: '0' });
  t.teardown(() => next.stop());
  t.equal(await uploadClient(next.url).offset(id), kept);
  await uploadClient(next.url).patch(id, bytes.subarray(kept), { offset: kept });
  t.equal(sha256(await uploadClient(next.url).download(id)), sha256(bytes));
});
