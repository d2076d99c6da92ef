/** Quotas of a client (WIRE 7), as the environment sets them. */
import t from 'tap';
import { startDeployment } from '../support/deployment.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { chunk, type ErrorBody, lastChunk, uploadClient } from '../support/upload-client.ts';

const settings = {
  DATA_DIR: await temporaryDirectory(t),
  WORKERS: '0',
  QUOTA_OPEN_UPLOADS: '3',
  QUOTA_STORED_BYTES: '1KiB',
};

void t.test('quotas hold under concurrency, over restarts, and for bodies of unknown length', async (t) => {
  const first = await startDeployment(settings);
  t.teardown(() => first.stop('SIGKILL'));
  const responses = await Promise.all(Array.from({ length: 20 }, () => uploadClient(first.url).post({ size: 100 })));
  t.equal(responses.filter(({ status }) => status === 201).length, 3);
  t.equal(responses.filter(({ status }) => status === 403).length, 17);
  const bodies = (await Promise.all(responses.map((one) => one.json()))) as { id?: string }[];
  const id = bodies.find((one) => one.id !== undefined)?.id ?? '';
  await first.stop('SIGKILL');

  const second = await startDeployment(settings);
  t.teardown(() => second.stop());
  const uploads = uploadClient(second.url);
  t.equal((await uploads.post({ size: 1 })).status, 403);
  await uploads.remove(id);
  const deferred = await uploads.create({ uploadLengthDeferred: true });
  await uploads.patch(deferred.id, 'x'.repeat(800), { offset: 0 });
  const http = await uploads.begin(deferred.id, { 'upload-offset': 800, 'transfer-encoding': 'chunked' });
  await http.send(Buffer.concat([chunk(Buffer.alloc(25, 'x')), Buffer.from(lastChunk)]));
  const { status, body } = await http.response();
  t.equal(status, 413);
  t.match(JSON.parse(String(body)) as ErrorBody, {
    code: 'QUOTA_EXCEEDED',
    details: { limit: 'storedBytes', max: 1024, used: 1000 },
  });
  t.equal(await uploads.offset(deferred.id), 800);
  t.equal((await uploads.patch(deferred.id, 'x'.repeat(24), { offset: 800 })).status, 200, 'what fits is taken');
});
