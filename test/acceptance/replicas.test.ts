/** Several services at one Redis: who may run beside whom, and who does the work. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Answer, call, download, ended, patch, startFlow } from '../support/api.ts';
import { openEvents } from '../support/event-socket.ts';
import { makePhoto } from '../support/photo.ts';
import { clean, freshAddress, skip } from '../support/redis.ts';
import { runToExit, startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';

const flow = {
  flowId: 'small',
  name: 'Small',
  nodes: { photo: { type: 'file-input' }, small: { type: 'resize', options: { width: 20 } } },
  edges: [{ source: 'photo', target: 'small' }],
};

/** Settings of replicas with one Redis, one directory and the flow `small`. */
const prepare = async (t: Test) => {
  const { url, prefix } = freshAddress();
  t.teardown(() => clean({ url, prefix }));
  const directory = await temporaryDirectory(t);
  const flows = join(directory, 'flows');
  await mkdir(flows);
  await writeFile(join(flows, 'small.json'), JSON.stringify(flow));
  const env = { REDIS_URL: url, REDIS_KEY_PREFIX: prefix, DATA_DIR: join(directory, 'data'), FLOWS_DIR: flows };
  const shared = { ...env, DATA_DIR_SHARED: 'on' };
  const start = async (settings: Readonly<Record<string, string>>) => {
    const service = await startService(settings);
    t.teardown(() => service.stop());
    return service;
  };
  return { directory, env, shared, start };
};

t.test('replicas that would not see the same files are refused', { skip }, async (t) => {
  const { directory, env, shared, start } = await prepare(t);
  const first = await start({ ...env, WORKERS: '0' });
  const { id } = await uploadClient(first.url).upload('hello');
  const others = [shared, env, { ...shared, DATA_DIR: join(directory, 'other') }];
  const [declared, silent, elsewhere] = await Promise.all(others.map((one) => runToExit({ ...one, WORKERS: '0' })));
  for (const refused of [declared, silent, elsewhere]) {
    t.equal(refused?.code, 1);
    t.match(refused?.output, /DATA_DIR_SHARED=on/);
    t.notMatch(refused?.output, /\bat .*\.ts:\d+/, 'without a stack');
  }
  t.match(elsewhere?.output, /in another directory/);
  t.equal(String(await uploadClient(first.url).download(id)), 'hello', 'the one that was there is not disturbed');
  await first.stop('SIGKILL');
  const next = await start({ ...env, WORKERS: '0' });
  t.equal(
    String(await uploadClient(next.url).download(id)),
    'hello',
    'and the next one waits until its lease has ended',
  );
});

t.test('a replica without workers takes files and starts jobs, another one runs them', { skip }, async (t) => {
  const { env, shared, start } = await prepare(t);
  const front = await start({ ...shared, WORKERS: '0' });
  t.notMatch(front.output(), /WORKERS/, 'nothing is wrong with that');
  const ready = await call(front.url, 'GET', '/api/ready');
  t.match(ready, { status: 200, body: { status: 'healthy' } });
  const photo = await makePhoto({ width: 80, height: 60 });
  const file = { name: 'a.jpg', type: 'image/jpeg', size: photo.length };
  const { jobId, uploadId } = await startFlow(front.url, 'small', 'photo', file);
  const events = openEvents(front.url, `/ws/flow/${jobId}`);
  await events.until('flow_snapshot');
  t.match(await patch(front.url, uploadId, photo), { status: 200, body: { status: 'completed' } });
  t.notOk((await call(front.url, 'GET', `/api/jobs/${jobId}/status`)).body.startedAt, 'nobody runs it');

  const back = await start({ ...shared, WORKERS: '1' });
  await events.until('flow_complete');
  const told = events.frames.map(({ type, nodeId }) => (nodeId === undefined ? type : `${type} ${nodeId}`));
  t.same(told, [
    ...['flow_snapshot', 'flow_started', 'flow_paused', 'flow_resumed', 'node_started photo', 'node_completed photo'],
    ...['node_started small', 'node_completed small', 'flow_complete'],
  ]);
  const job: Answer = await ended(front.url, jobId);
  t.match(job, { status: 'completed', outputs: { small: { mimeType: 'image/jpeg' } } });
  const { url } = job.outputs.small;
  t.same(await download(front.url, url), await download(back.url, url), 'both deliver it');

  const scratch = join(env.DATA_DIR, 'scratch');
  t.equal((await readdir(scratch)).length, 1, 'only the one that works has a scratch folder');
  await back.stop();
  t.same(await readdir(scratch), [], 'and takes it with it');
});

t.test('a service alone that runs nothing says so', async (t) => {
  const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0' });
  t.match(service.output(), /"level":"warn".*WORKERS=0 and no REDIS_URL/);
  t.equal(await service.stop(), 0);
});
