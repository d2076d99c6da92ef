/** POST to /pause, /resume and /retry. */
import t, { type Test } from 'tap';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import { inputNode, resizeNode } from '../../../src/index.ts';
import { call } from '../../support/api.ts';
import { deliver, type Script, scriptedPool } from '../../support/engine-rig.ts';
import { serviceInProcess } from '../../support/service-in-process.ts';
import { uploadClient } from '../../support/upload-client.ts';
import { until } from '../../support/wait.ts';

const flow = defineFlow({
  flowId: 'copy',
  name: 'Copy',
  nodes: [inputNode('photo'), resizeNode('small', { width: 1 })],
  edges: [{ source: 'photo', target: 'small' }],
});
const input = { operation: 'init', metadata: { originalName: 'a.png', mimeType: 'image/png', size: 5 } };

const start = async (t: Test, script: Script) => {
  const service = await serviceInProcess({ flows: { copy: flow }, workerPool: scriptedPool(script) });
  t.teardown(() => service.close());
  const { url } = service;
  const { body } = await call(url, 'POST', '/api/flow/copy/default', { inputs: { photo: input } });
  const post = async (action: string) => call(url, 'POST', `/api/jobs/${body.id}/${action}`);
  const status = async () => (await call(url, 'GET', `/api/jobs/${body.id}/status`)).body;
  const send = () => uploadClient(url).patch(body.tasks[0].result.id, 'hello', { offset: 0 });
  return { url, post, status, send };
};

t.test('a job is stopped and let go on', async (t) => {
  const { url, post, status, send } = await start(t, (task) => deliver(task, 'x'));
  t.match(await post('pause'), { status: 200, body: { status: 'paused', pauseReason: 'user' } });
  await send();
  t.match(await status(), { status: 'paused', pauseReason: 'user', progress: 0 });
  t.match(await post('resume'), { status: 200, body: { jobId: String } });
  await until(async () => (await status()).status === 'completed');
  t.match(await post('pause'), { status: 409, body: { code: 'INVALID_JOB_STATE' } });
  t.match(await post('resume'), { status: 409, body: { code: 'INVALID_JOB_STATE' } });
  for (const action of ['pause', 'resume', 'retry']) {
    t.match(await call(url, 'POST', `/api/jobs/nope/${action}`), { status: 404, body: { code: 'FLOW_JOB_NOT_FOUND' } });
  }
});

t.test('a failed job is tried again', async (t) => {
  let broken = true;
  const { post, status, send } = await start(t, async (task) => {
    if (broken) throw new ServiceError('INVALID_INPUT', 'no picture');
    return deliver(task, 'x');
  });
  t.match(await post('retry'), { status: 409, body: { code: 'INVALID_JOB_STATE' } });
  await send();
  await until(async () => (await status()).status === 'failed');
  t.match(await status(), { error: { nodeId: 'small', code: 'INVALID_INPUT', message: 'no picture' } });
  broken = false;
  t.match(await post('retry'), { status: 200 });
  await until(async () => (await status()).status === 'completed');
  t.match(await status(), { progress: 1, outputs: { small: { size: 1 } }, tasks: [{}, { attempt: 2 }] });
  t.notOk('error' in (await status()));
});
