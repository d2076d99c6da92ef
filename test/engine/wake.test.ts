/** Wake-ups that come while the job is held, or as its holder leaves, are never lost. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { JobRecord } from '../../src/domain/job.ts';
import type { EventBroadcaster } from '../../src/ports/event-broadcaster.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliver, engineRig, type Rig, type Script } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import { edgesOf, flowOf, input, node, passing, statusOf, untilAborted } from '../support/step-flows.ts';
import { gate, quiet, until as reached } from '../support/wait.ts';

const nodes = { late: input, a: node(), b: node() };
const flow = flowOf(nodes, edgesOf('in a', 'late b'));

/** A job whose input `in` is there and whose input `late` waits for two bytes. */
const startJob = async (rig: Rig) => {
  const inputs = {
    in: { operation: 'upload' as const, uploadId: await rig.upload('x') },
    late: { operation: 'init' as const, metadata: { mimeType: 'text/plain', size: 2 } },
  };
  const { id, tasks } = await rig.engine.start({ flowId: 'f', storageId: 'default', clientId: undefined, inputs });
  // What is there runs when somebody looks; nobody has a reason to before the last byte.
  await rig.engine.wake(id);
  return { id, uploadId: tasks.find(({ nodeId }) => nodeId === 'late')?.uploads?.[0]?.id ?? '' };
};

/** Tells nobody anything, as a bus that is down. */
const mute = (events: EventBroadcaster): EventBroadcaster => ({ ...events, notify: async () => {} });
const same = (events: EventBroadcaster): EventBroadcaster => events;

for (const [title, wrapEvents] of Object.entries({ 'at once': same, 'before long, though nobody is told': mute })) {
  t.test(`an input that comes while another branch runs has its branch begun ${title}`, async (t) => {
    const [begun, other] = [gate(), gate()];
    const rig = await engineRig(t, {
      flows: [flow],
      wrapEvents,
      script: async (task, signal) => {
        if (task.nodeId === 'b') other.open();
        else {
          begun.open();
          await Promise.race([other.passed, untilAborted(signal)]);
        }
        return deliver(task, task.nodeId);
      },
    });
    const { id, uploadId } = await startJob(rig);
    await begun.passed;
    await rig.append(uploadId, 'hi');
    const before = performance.now();
    const job = await rig.until(id, 'completed', 'failed');
    t.equal(job.status, 'completed');
    t.ok(performance.now() - before < (wrapEvents === same ? 2000 : 8000));
  });
}

t.test('an input that comes as the holder leaves is not overlooked', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: (task) => deliver(task, task.nodeId), size: 4 });
  const play = async (ms: number) => {
    const { id, uploadId } = await startJob(rig);
    await delay(ms);
    await rig.append(uploadId, 'hi');
    return rig.until(id, 'completed', 'failed');
  };
  for (let round = 0; round < 10; round += 1) {
    const jobs = await Promise.all([0, 1, 2, 4, 6, 9, 13, 20].map((ms) => play(ms)));
    t.strictSame(
      jobs.map((job) => [job.status, statusOf(job, 'b'), job.lease]),
      jobs.map(() => ['completed', 'completed', undefined]),
    );
  }
  t.strictSame(rig.errors, []);
});

t.test('nor is one that comes as the holder leaves to wait for a retry', async (t) => {
  let uploadId = '';
  const wrapRecords = interpose<KvStore>((store) => ({
    commit: async (change) => {
      const job = change.collection === 'jobs' ? (change.value as JobRecord) : undefined;
      if (uploadId !== '' && job?.status === 'running' && job.lease === undefined) {
        const late = uploadId;
        uploadId = '';
        await rig.append(late, 'hi');
        // Its entry finds the job held, and is gone.
        await quiet();
      }
      return store.commit(change);
    },
  }));
  const script: Script = async (task) => {
    if (task.nodeId === 'a') throw passing();
    return deliver(task, 'x');
  };
  const rig = await engineRig(t, { flows: [flow], script, wrapRecords, wrapEvents: mute, retryDelay: 30_000 });
  const started = await startJob(rig);
  uploadId = started.uploadId;
  await reached(async () => statusOf(await rig.job(started.id), 'b') === 'completed', 4000);
  t.equal(statusOf(await rig.job(started.id), 'a'), 'retrying');
});

const failing: Script = async () => {
  throw passing();
};

/** Starts a job that waits for a retry, and gives its record when nobody holds it any more. */
const startWaiting = async (rig: Rig): Promise<JobRecord> => {
  const { id } = await startJob(rig);
  await reached(async () => (await rig.job(id)).waitsSince !== undefined);
  return rig.job(id);
};

t.test('a wait for a retry that nobody holds is in the duration, whatever ends it', async (t) => {
  const rig = await engineRig(t, { flows: [flow], script: failing, retryDelay: 30_000 });
  for (const end of ['wake', 'pause', 'cancel'] as const) {
    const { id, runningMs } = await startWaiting(rig);
    await delay(100);
    if (end === 'wake') await rig.engine.wake(id);
    else await rig.engine[end](id, undefined);
    await reached(async () => (await rig.job(id)).runningMs >= runningMs + 99);
    if (end !== 'wake') t.equal((await rig.job(id)).waitsSince, undefined, end);
  }
});

t.test('the time of the flow goes on during such a wait, and ends it', async (t) => {
  const hurried = { ...flow, timeout: 5500 };
  const rig = await engineRig(t, { flows: [hurried], script: failing, retryDelay: 30_000 });
  const { id } = await startWaiting(rig);
  const job = await rig.until(id, 'failed');
  t.match(job.error, { code: 'TIMEOUT', nodeId: 'a', details: { timeout: 5500 } });
  t.ok(job.runningMs >= 5500);
});
