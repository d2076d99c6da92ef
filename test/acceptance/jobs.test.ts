/** Idempotency keys and the list of jobs (WIRE 3). */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { type Answer, call } from '../support/api.ts';
import { startDeployment } from '../support/deployment.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const directory = await temporaryDirectory(t);
const settings = { DATA_DIR: join(directory, 'data'), FLOWS_DIR: join(directory, 'flows'), WORKERS: '0' };
await mkdir(settings.FLOWS_DIR);
for (const flowId of ['one', 'two']) {
  const flow = { flowId, name: flowId, nodes: { file: { type: 'file-input' } }, edges: [] };
  await writeFile(join(settings.FLOWS_DIR, `${flowId}.json`), JSON.stringify(flow));
}

const post = async (url: string, flowId: string, key: string, size: number) => {
  const metadata = { originalName: 'a.txt', mimeType: 'text/plain', size };
  const response = await fetch(`${url}/api/flow/${flowId}/default`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ inputs: { file: { operation: 'init', metadata } } }),
  });
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status: response.status, replayed, body: (await response.json()) as Answer };
};

void t.test('20 requests with one key at once are one job with one upload, also after a crash', async (t) => {
  // A second upload would be refused.
  const first = await startDeployment({ ...settings, QUOTA_OPEN_UPLOADS: '1' });
  t.teardown(() => first.stop('SIGKILL'));
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(first.url, 'one', 'order-7', 5)));
  t.ok(answers.every(({ status }) => status === 201));
  t.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  t.equal(answers.filter(({ replayed }) => !replayed).length, 1);
  t.equal((await call(first.url, 'GET', '/api/jobs')).body.items.length, 1);
  t.equal((await post(first.url, 'one', 'order-7', 6)).status, 409);
  t.equal((await post(first.url, 'one', 'order-8', 5)).status, 403);
  await first.stop('SIGKILL');

  const second = await startDeployment(settings);
  t.teardown(() => second.stop());
  const again = await post(second.url, 'one', 'order-7', 5);
  t.match(again, { status: 201, replayed: true, body: { id: answers[0]?.body.id } });
  t.match(await post(second.url, 'one', 'order-8', 5), { status: 201, replayed: false }, 'the quota used no key up');

  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    const { body } = await post(second.url, 'two', `more-${index}`, 5);
    await call(second.url, 'POST', `/api/jobs/${body.id}/cancel`);
    ids.unshift(body.id);
  }
  const seen: string[] = [];
  for (let query = '?status=cancelled&limit=2'; query !== ''; ) {
    const { body } = await call(second.url, 'GET', `/api/jobs${query}`);
    seen.push(...body.items.map((job: Answer) => job.id));
    query = body.nextCursor === undefined ? '' : `?status=cancelled&limit=2&cursor=${body.nextCursor}`;
    await post(second.url, 'two', `late-${seen.length}`, 5);
  }
  t.strictSame(seen.toSorted(), ids.toSorted(), 'each once, whatever is started meanwhile');
  t.equal((await call(second.url, 'GET', '/api/jobs?flowId=one')).body.items.length, 2);
  t.equal((await call(second.url, 'GET', '/api/jobs?cursor=nonsense')).status, 400);
});
