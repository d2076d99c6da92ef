/** Several storages behind one service: clients choose by `storageId`, and flows take from one what they put into another. */
import { randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { s3Server } from '../services/s3.ts';
import { call, download, ended } from '../support/api.ts';
import { pixelsOf, plainPng } from '../support/pixels.ts';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';

const flow = {
  flowId: 'small',
  name: 'Small',
  nodes: {
    photo: { type: 'file-input' },
    small: { type: 'resize', options: { width: 10 } },
    end: { type: 'output' },
  },
  edges: [
    { source: 'photo', target: 'small' },
    { source: 'small', target: 'end' },
  ],
};

const s3 = await s3Server();
const skip = s3 === undefined ? 'there is no S3 server' : false;

t.test('local storages and a bucket side by side', { skip }, async (t) => {
  if (s3 === undefined) return;
  const directory = await temporaryDirectory(t);
  const at = (name: string) => join(directory, name);
  const { endpoint, region } = s3;
  const bucket = { type: 's3', bucket: 'sluice-tests', prefix: `test-${randomUUID()}`, endpoint, region };
  const keys = { accessKeyId: { secret: 'S3_KEY' }, secretAccessKey: { secret: 'S3_SECRET' } };
  const storages = { disk: { type: 'local', directory: at('disk') }, bucket: { ...bucket, ...keys } };
  await writeFile(at('storages.json'), JSON.stringify(storages));
  const flows = await temporaryDirectory(t);
  await writeFile(join(flows, 'small.json'), JSON.stringify(flow));
  const { url, stop } = await startService({
    DATA_DIR: at('data'),
    FLOWS_DIR: flows,
    STORAGES_FILE: at('storages.json'),
    SECRET_S3_KEY: s3.accessKeyId,
    SECRET_S3_SECRET: s3.secretAccessKey,
    WORKERS: '1',
    FILES_MODE: 'redirect',
    FILES_URL_SECRET: 'of the acceptance test, 32 characters',
  });
  t.teardown(async () => void (await stop()));
  const uploads = uploadClient(url);
  const photo = (await plainPng(40, 20, '#ff0000')).bytes;

  await t.test('an upload goes where it says, and is read from there', async (t) => {
    for (const [storageId, type] of [
      ['default', 'local'],
      ['disk', 'local'],
      ['bucket', 's3'],
    ] as const) {
      const upload = await uploads.upload(photo, { storageId });
      t.strictSame(upload['storage'], { id: storageId, type });
      t.ok((await download(url, String(upload.url))).equals(photo), storageId);
      const { body } = await call(url, 'GET', `/api/upload/capabilities?storageId=${storageId}`);
      t.match(body, { storageId, capabilities: { supportsResumableUploads: true } });
    }
    t.equal((await readdir(at('disk/uploads'))).length, 1);
    t.equal((await readdir(at('data/files/uploads'))).length, 1);
  });

  for (const [from, to] of [
    ['disk', 'bucket'],
    ['bucket', 'disk'],
    ['bucket', 'default'],
  ] as const) {
    await t.test(`a job on "${to}" takes an upload from "${from}"`, async (t) => {
      const { id } = await uploads.upload(photo, { storageId: from, fileName: 'a.png', type: 'image/png' });
      const inputs = { photo: { operation: 'upload', uploadId: id } };
      const { body } = await call(url, 'POST', `/api/flow/small/${to}`, { inputs });
      const job = await ended(url, body.jobId);
      t.match(job, { status: 'completed', storageId: to }, JSON.stringify(job.error));
      t.match(await pixelsOf(await download(url, job.outputs.end.url)), { width: 10, height: 5 });
    });
  }

  await t.test('an input goes into the storage of its job, or into the one that it names', async (t) => {
    const metadata = { originalName: 'a.png', mimeType: 'image/png', size: photo.length };
    for (const [storageId, named] of [
      ['bucket', undefined],
      ['disk', 'bucket'],
    ]) {
      const inputs = { photo: { operation: 'init', storageId: named, metadata } };
      const { body } = await call(url, 'POST', `/api/flow/small/${storageId}`, { inputs });
      t.match(body.tasks[0].result.storage, { id: 'bucket', type: 's3' });
      await uploads.patch(body.tasks[0].result.id, photo, { offset: 0 });
      t.match(await ended(url, body.jobId), { status: 'completed', storageId });
    }
  });

  await t.test('the address of a file is signed, and sends clients to the bucket for what is there', async (t) => {
    for (const [storageId, status] of [
      ['default', 200],
      ['bucket', 302],
    ] as const) {
      const upload = await uploads.upload(photo, { storageId });
      const response = await fetch(new URL(String(upload.url), url), { redirect: 'manual' });
      t.equal(response.status, status, storageId);
      if (status === 302) t.match(response.headers.get('location'), `${endpoint}/sluice-tests/`);
      t.equal((await fetch(`${url}/api/files/${upload.id}`)).status, 401, 'no other address does');
    }
  });

  await t.test('an unknown storage is 404, wherever it is named', async (t) => {
    const inputs = { photo: { operation: 'init', storageId: 'none', metadata: { size: 1 } } };
    const answers = [
      await call(url, 'POST', '/api/upload', { size: 1, storageId: 'none' }),
      await call(url, 'POST', '/api/upload', { size: 1, storageId: '__proto__' }),
      await call(url, 'GET', '/api/upload/capabilities?storageId=none'),
      await call(url, 'POST', '/api/flow/small/none', {}),
      await call(url, 'POST', '/api/flow/small/default', { inputs }),
    ];
    for (const answer of answers) t.match(answer, { status: 404, body: { code: 'STORAGE_NOT_FOUND' } });
  });

  await t.test('readiness asks each of them', async (t) => {
    const { body } = await call(url, 'GET', '/api/ready');
    for (const name of ['dataStore', 'dataStore.disk', 'dataStore.bucket']) {
      t.match(body.components[name], { status: 'healthy' }, name);
    }
  });
});
