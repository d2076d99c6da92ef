/** Uploads that are not finished in time (WIRE 1, rules 9 and 12), with a time of two seconds. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ended, startFlow } from '../support/api.ts';
import { startDeployment, storageType } from '../support/deployment.ts';
import { openEvents } from '../support/event-socket.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

const flows = await temporaryDirectory(t);
await writeFile(
  join(flows, 'copy.json'),
  JSON.stringify({
    flowId: 'copy',
    name: 'Copy',
    nodes: { file: { type: 'file-input' }, result: { type: 'output' } },
    edges: [{ source: 'file', target: 'result' }],
  }),
);
const data = await temporaryDirectory(t);
const service = await startDeployment({ DATA_DIR: data, FLOWS_DIR: flows, WORKERS: '1', UPLOAD_TTL: '2s' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

void t.test('an upload that nobody continues ends; one that is continued or complete does not', async (t) => {
  const response = await uploads.post({ fileName: 'a.bin', size: 1000 });
  t.match(response.headers.get('upload-limit'), /^max-size=\d+, max-age=[12]$/);
  const left = (await response.json()) as { id: string; creationDate: string; expiresAt: string };
  const time = Date.parse(left.expiresAt) - Date.parse(left.creationDate);
  t.ok(time >= 2000 && time < 2500, `${time} ms`);
  await uploads.patch(left.id, 'hello', { offset: 0 });
  const events = openEvents(service.url, `/ws/upload/${left.id}`);
  const { jobId, uploadId } = await startFlow(service.url, 'copy', 'file', { name: 'a', type: 'text/plain', size: 9 });
  const complete = await uploads.upload('hello');
  // More than can be sent byte by byte meanwhile.
  const continued = await uploads.create({ size: 1_000_000 });
  let offset = 0;
  await until(async () => {
    const appended = await uploads.patch(continued.id, '.', { offset });
    offset = Number(appended.headers.get('upload-offset'));
    return (await uploads.head(left.id)).status === 410 && (await uploads.head(uploadId)).status === 410;
  });
  t.match(await events.until('upload_error'), { uploadId: left.id, error: { code: 'EXPIRED' } });
  t.match(await ended(service.url, jobId), { status: 'failed', error: { code: 'UPLOAD_FAILED', nodeId: 'file' } });
  const get = await fetch(`${service.url}/api/upload/${left.id}`);
  for (const answer of [get, await uploads.patch(left.id, 'world', { offset: 5 }), await uploads.remove(left.id)]) {
    t.equal(answer.status, 410);
    t.equal(((await answer.json()) as ErrorBody).code, 'FILE_NO_LONGER_EXISTS');
  }
  t.equal((await uploads.get(continued.id)).offset, offset);
  t.equal(String(await uploads.download(complete.id)), 'hello');
  if (storageType !== 'local') return;
  const kept = await readdir(join(data, 'files', 'uploads'));
  t.strictSame(kept.toSorted(), [complete.id, continued.id].toSorted(), 'and the bytes of the others are gone');
});
