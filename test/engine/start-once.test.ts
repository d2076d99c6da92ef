import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import { localEvents } from '../../src/drivers/events/local/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { forgetClaim } from '../../src/engine/claims.ts';
import type { StartFlow, StartRequest } from '../../src/engine/start.ts';
import { createStartOnce } from '../../src/engine/start-once.ts';
import { movedClock } from '../support/clock.ts';
import { deliver, engineRig } from '../support/engine-rig.ts';
import { sampleJob } from '../support/sample-records.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { gate, quiet } from '../support/wait.ts';

const day = 24 * 3_600_000;
const what = { flowId: 'f', storageId: 'default', clientId: undefined, inputs: {} };
const keyed = { ...what, idempotencyKey: 'k' };

/** `startOnce` over real records and a start that the test may hold up or let fail before it makes the job. */
const open = async (t: Test, before: (request: StartRequest, nth: number) => Promise<void> | void = () => {}) => {
  const clock = movedClock();
  const path = join(await temporaryDirectory(t), 'kv.db');
  const kvStore = sqliteKvStore({ path, durability: 'process', clock });
  t.teardown(kvStore.close);
  const eventBroadcaster = localEvents();
  const errors: unknown[] = [];
  const started: string[] = [];
  const start: StartFlow = async (request) => {
    const id = request.jobId ?? '';
    await before(request, started.push(id));
    const value = sampleJob({ id, flowId: request.flowId });
    await kvStore.commit({ collection: 'jobs', id, value, expectedVersion: 0 });
    await eventBroadcaster.notify('jobs', id);
    return value;
  };
  const claims = () => kvStore.due('claims', Number.MAX_SAFE_INTEGER, 10);
  const deps = {
    kvStore,
    eventBroadcaster,
    clock,
    start,
    claimMs: 10_000,
    patience: 60_000,
    onError: (error: unknown) => errors.push(error),
  };
  return { startOnce: createStartOnce(deps), deps, clock, kvStore, eventBroadcaster, started, claims, errors };
};

t.test('the same key and request give the same job', async (t) => {
  const { startOnce, started } = await open(t);
  const inputs = { a: { operation: 'init' as const, metadata: { size: 1, mimeType: 'x/y' } } };
  const first = await startOnce({ ...keyed, inputs });
  t.equal(first.replayed, false);
  const reordered = { a: { metadata: { mimeType: 'x/y', size: 1 }, operation: 'init' as const, storageId: undefined } };
  t.strictSame(await startOnce({ idempotencyKey: 'k', ...what, inputs: reordered }), {
    job: first.job,
    replayed: true,
  });
  t.equal(started.length, 1);
});

t.test('another request with the key is a conflict', async (t) => {
  const { startOnce, started } = await open(t);
  await startOnce(keyed);
  const inputs = { a: { operation: 'upload' as const, uploadId: 'u' } };
  for (const other of [{ flowId: 'g' }, { storageId: 's' }, { inputs }]) {
    await t.rejects(startOnce({ ...keyed, ...other }), {
      code: 'IDEMPOTENCY_CONFLICT',
      status: 409,
      retryAfter: undefined,
    });
  }
  t.equal(started.length, 1);
});

t.test('keys are a client’s own', async (t) => {
  const { startOnce } = await open(t);
  const ids = new Set<string>();
  for (const clientId of [undefined, 'ann', 'bob']) ids.add((await startOnce({ ...keyed, clientId })).job.id);
  ids.add((await startOnce({ ...keyed, idempotencyKey: 'K' })).job.id);
  t.equal(ids.size, 4);
});

t.test('of requests at the same time one starts the job, and the others wait for it', async (t) => {
  const slow = gate();
  const { startOnce, started } = await open(t, () => slow.passed);
  const all = Array.from({ length: 20 }, () => startOnce(keyed));
  await quiet();
  t.equal(started.length, 1);
  slow.open();
  const answers = await Promise.all(all);
  t.equal(new Set(answers.map(({ job }) => job.id)).size, 1);
  t.equal(answers.filter(({ replayed }) => !replayed).length, 1);
  t.equal(started.length, 1);
});

t.test('who has waited long enough is told to come again', async (t) => {
  const slow = gate();
  const { deps, clock } = await open(t, () => slow.passed);
  const startOnce = createStartOnce({ ...deps, patience: 100 });
  const first = startOnce(keyed);
  const waits = startOnce(keyed);
  await quiet();
  clock.pass(100);
  await t.rejects(waits, { code: 'IDEMPOTENCY_CONFLICT', retryAfter: 1 });
  slow.open();
  t.equal((await startOnce(keyed)).job.id, (await first).job.id);
});

t.test('a start that fails frees its key, for whoever waits and for any other request', async (t) => {
  const slow = gate();
  const { startOnce, started, claims, errors, deps } = await open(t, async (_request, nth) => {
    if (nth === 1) await slow.passed;
    if (nth <= 2) throw new ServiceError('QUOTA_EXCEEDED');
  });
  const first = startOnce(keyed);
  await quiet();
  const waits = startOnce(keyed);
  await quiet();
  slow.open();
  await t.rejects(first, { code: 'QUOTA_EXCEEDED' });
  const freed = Date.now();
  await t.rejects(waits, { code: 'QUOTA_EXCEEDED' }, 'it tries for itself');
  t.ok(Date.now() - freed < deps.claimMs / 2, 'as soon as it can');
  t.strictSame(await claims(), []);
  t.equal((await startOnce({ ...keyed, flowId: 'g' })).replayed, false);
  t.equal(new Set(started).size, 3, 'each with a job of its own');
  t.strictSame(errors, []);
});

t.test('a key is kept when the start has failed behind the creation of its job', async (t) => {
  const { deps, claims } = await open(t);
  const startOnce = createStartOnce({
    ...deps,
    start: async (request) => {
      await deps.start(request);
      throw new ServiceError('UNAVAILABLE');
    },
  });
  await t.rejects(startOnce(keyed), { code: 'UNAVAILABLE' });
  t.equal((await claims()).length, 1);
  t.equal((await startOnce(keyed)).replayed, true);
});

t.test('a key that cannot be freed is reported, and the error of the start is the answer', async (t) => {
  const { deps, errors } = await open(t, () => {
    throw new ServiceError('FLOW_NOT_FOUND');
  });
  const remove = () => Promise.reject(new ServiceError('UNAVAILABLE'));
  const startOnce = createStartOnce({ ...deps, kvStore: { ...deps.kvStore, remove } });
  await t.rejects(startOnce(keyed), { code: 'FLOW_NOT_FOUND' });
  t.match(errors, [{ code: 'UNAVAILABLE' }]);
});

t.test('a claim whose process has fallen silent is taken over in time, for the same job', async (t) => {
  const silent = gate();
  const { startOnce, started, clock } = await open(t, (_request, nth) => (nth === 1 ? silent.passed : undefined));
  const first = startOnce(keyed);
  await quiet();
  clock.pass(10_000);
  await t.rejects(startOnce({ ...keyed, flowId: 'g' }), { code: 'IDEMPOTENCY_CONFLICT' });
  const answers = await Promise.all(Array.from({ length: 5 }, () => startOnce(keyed)));
  t.equal(answers.filter(({ replayed }) => !replayed).length, 1);
  t.strictSame(started, [answers[0]?.job.id, answers[0]?.job.id]);
  silent.open();
  t.equal((await first).job.id, answers[0]?.job.id, 'and if it comes back after all it has no other job');
});

t.test('a start that takes its time keeps its claim', async (t) => {
  const slow = gate();
  const { deps, started, clock } = await open(t, () => slow.passed);
  const startOnce = createStartOnce({ ...deps, claimMs: 30 });
  const first = startOnce(keyed);
  for (let round = 0; round < 3; round++) {
    await quiet();
    clock.pass(20);
  }
  const second = startOnce(keyed);
  await quiet();
  t.equal(started.length, 1);
  slow.open();
  t.strictSame([(await first).replayed, (await second).replayed], [false, true]);
});

t.test('who fails after the claim was taken over frees nothing', async (t) => {
  const slow = gate();
  const { startOnce, clock, claims } = await open(t, async (_request, nth) => {
    if (nth === 1) await slow.passed.then(() => Promise.reject(new ServiceError('INTERNAL_ERROR')));
    else await quiet();
  });
  const first = startOnce(keyed);
  await quiet();
  clock.pass(10_000);
  const second = startOnce(keyed);
  slow.open();
  await t.rejects(first, { code: 'INTERNAL_ERROR' });
  t.equal((await claims()).length, 1);
  const { job } = await second;
  t.equal((await startOnce(keyed)).job.id, job.id);
});

t.test('a key stands for its job for a day, and is forgotten then', async (t) => {
  const { startOnce, deps, clock, claims } = await open(t);
  const { job } = await startOnce(keyed);
  const [id = ''] = await claims();
  clock.pass(day - 1);
  await forgetClaim(deps, id);
  t.equal((await startOnce(keyed)).job.id, job.id);
  clock.pass(1);
  const next = await startOnce({ ...keyed, flowId: 'g' });
  t.not(next.job.id, job.id, 'whether it has been forgotten already or not');
  await forgetClaim(deps, id);
  t.equal((await startOnce({ ...keyed, flowId: 'g' })).job.id, next.job.id);
  clock.pass(day);
  await forgetClaim(deps, id);
  t.strictSame(await claims(), []);
});

const flow: FlowDefinition = { flowId: 'one', name: 'One', nodes: { in: { type: 'file-input' } }, edges: [] };

t.test('in the engine, one key makes one job and one set of uploads', async (t) => {
  const quota = { openUploads: 2 };
  const { engine } = await engineRig(t, { flows: [flow], script: (task) => deliver(task, ''), quota });
  const request = { ...what, flowId: 'one', idempotencyKey: 'k' };
  const answers = await Promise.all(Array.from({ length: 10 }, () => engine.startOnce(request)));
  t.equal(new Set(answers.map(({ job }) => job.id)).size, 1);
  await t.resolves(engine.start({ ...what, flowId: 'one' }), 'the others have made no upload');
  const refused = { ...request, idempotencyKey: 'other' };
  await t.rejects(engine.startOnce(refused), { code: 'QUOTA_EXCEEDED' });
  await engine.cancel(answers[0]?.job.id ?? '', undefined);
  t.equal((await engine.startOnce(refused)).replayed, false, 'a quota does not use the key up');
  t.match((await engine.startOnce(request)).job, { status: 'cancelled' }, 'a replay shows what has become of the job');
});

t.test('of two starts of one job id the second gives up its uploads', async (t) => {
  const quota = { openUploads: 2 };
  const { engine } = await engineRig(t, { flows: [flow], script: (task) => deliver(task, ''), quota });
  const request = { ...what, flowId: 'one', jobId: 'chosen' };
  const [first, second] = await Promise.all([engine.start(request), engine.start(request)]);
  t.strictSame(first.tasks[0]?.uploads, second.tasks[0]?.uploads);
  const [uploadId = ''] = [...(await engine.inputUploads(first)).keys()];
  t.equal((await engine.inputUploads(await engine.getJob('chosen', undefined))).get(uploadId)?.status, 'created');
  await t.resolves(engine.start({ ...what, flowId: 'one' }));
});
