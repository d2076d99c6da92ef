/** Two replicas over one Redis and one bucket: for clients they are one service, also when one of them dies. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import sharp from 'sharp';
import t from 'tap';
import { getRedis } from '../services/redis.ts';
import { s3Server } from '../services/s3.ts';
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { openEvents } from '../support/event-socket.ts';
import { makePhoto } from '../support/photo.ts';
import { startService } from '../support/running-service.ts';
import { s3Settings } from '../support/s3-settings.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

const mebibyte = 1_048_576;
const redis = await getRedis();
const s3 = await s3Server();
if (redis !== undefined) t.teardown(redis.stop);
const skip = redis === undefined || s3 === undefined ? 'no Redis or no S3, and TEST_SERVICES=embedded' : false;

/** Settings of replicas that share everything but their directory. */
const shared = (): Record<string, string> => ({
  REDIS_URL: redis?.url ?? '',
  REDIS_KEY_PREFIX: `test-${randomUUID()}`,
  ...(s3 && s3Settings(s3)),
  WORKERS: '1',
});

/** Both at once, so that they also make what is missing at once. */
const startTwo = (t: Owner) => {
  const env = shared();
  const start = async () => {
    const directory = await temporaryDirectory(t);
    const service = await startService({ ...env, DATA_DIR: directory });
    t.teardown(async () => void (await service.stop()));
    return { ...service, directory };
  };
  return Promise.all([start(), start()]);
};

t.test('an upload and its flow go through both', { skip }, async (t) => {
  const [one, two] = await startTwo(t);
  t.match(one.output(), 'data: s3, records: redis, events: redis');
  const photo = await makePhoto({ width: 1200, height: 1600, orientation: 6 });
  const file = { name: 'IMG_0001.jpg', type: 'image/jpeg', size: photo.length };
  const { jobId, uploadId } = await startFlow(one.url, 'two-sizes', 'photo', file);
  const socket = openEvents(two.url, `/ws/flow/${jobId}`);
  await socket.until('flow_paused');
  const half = Math.floor(photo.length / 2);
  t.equal((await patch(two.url, uploadId, photo.subarray(0, half))).body.offset, half);
  t.match((await patch(one.url, uploadId, photo.subarray(half), half)).body, {
    storage: { id: 'default', type: 's3' },
  });
  const job = await ended(two.url, jobId);
  t.equal(job.status, 'completed', JSON.stringify(job.error));
  t.match(await socket.until('flow_complete'), { outputs: job.outputs });
  for (const { url } of [one, two]) {
    const image = await sharp(await download(url, job.outputs['small-web'].url)).metadata();
    t.match(image, { format: 'webp', width: 400 });
  }
  for (const { directory } of [one, two]) {
    const left = await readdir(directory, { recursive: true, withFileTypes: true });
    t.strictSame(
      left.filter((entry) => entry.isFile()).map(({ name }) => name),
      [],
      'nothing stays on a disk',
    );
  }
});

t.test('what a replica has acknowledged before it was killed, the other one has', { skip }, async (t) => {
  const [one, two] = await startTwo(t);
  const bytes = sampleBytes(40 * mebibyte);
  const { id } = await uploadClient(one.url).create({ size: bytes.length });
  const request = await uploadClient(one.url).begin(id, { 'upload-offset': 0, 'content-length': bytes.length });
  await request.send(bytes.subarray(0, 30 * mebibyte));
  const other = uploadClient(two.url);
  await until(async () => (await other.get(id)).offset > 0);
  const committed = (await other.get(id)).offset;
  await one.stop('SIGKILL');
  const offset = await other.offset(id);
  t.ok(offset >= committed && offset <= 30 * mebibyte, `${offset} bytes, ${committed} of them were told before`);
  t.match(await (await other.patch(id, bytes.subarray(offset), { offset })).json(), { status: 'completed' });
  t.equal(sha256(await other.download(id)), sha256(bytes));
  t.equal((await call(two.url, 'DELETE', `/api/upload/${id}`)).status, 204);
});
