/**
 * Random flows under random faults: errors, dead workers, services that stop or are lost in the middle, users who stop
 * the job, resume it, cancel it or have it tried again. Whatever comes: it ends, as it would have without all that.
 *
 *   SEED=123 ROUNDS=1   repeats what has failed
 *   FOR_SECONDS=600     goes on for so long
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { JobRecord } from '../../src/domain/job.ts';
import { engineRig, type Rig, type Script } from '../support/engine-rig.ts';
import { dice } from '../support/random.ts';
import { below, oneOf, type RandomPlan, randomPlan, workOf } from '../support/random-flow.ts';
import { attemptOf, startWith } from '../support/step-flows.ts';
import { findOrderProblem } from '../support/story-of-job.ts';
import { until as reached } from '../support/wait.ts';

const { SEED = String(Date.now() % 1_000_000), ROUNDS = '100000', FOR_SECONDS = '15' } = process.env;

const ended = ['completed', 'failed', 'cancelled'];

/** Keys, names and texts of the outputs. */
const outputsOf = async (rig: Rig, job: JobRecord) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(job.outputs ?? {}).map(async ([key, { key: place, fileName }]) => [
        key,
        `${fileName}: ${await rig.read(place)}`,
      ]),
    ),
  );

/** How it goes without faults. */
const undisturbed = async (t: Test, plan: RandomPlan) => {
  const rig = await engineRig(t, { flows: [plan.flow], script: workOf(plan, () => 'none') });
  const job = await rig.until(await startWith(rig, plan.files), ...ended);
  const outputs = await outputsOf(rig, job);
  await rig.close();
  return { status: job.status, outputs };
};

/** The job and the life that it is in. */
interface World {
  readonly plan: RandomPlan;
  readonly random: () => number;
  readonly script: Script;
  /** Runs by node and attempt. */
  readonly runs: Map<string, number>;
  rig: Rig;
  id: string;
}

const openWorld = async (t: Test, plan: RandomPlan, random: () => number): Promise<World> => {
  const counts: Record<string, number> = {};
  const work = workOf(plan, (nodeId) => {
    counts[nodeId] = (counts[nodeId] ?? 0) + 1;
    return plan.faults[nodeId]?.[counts[nodeId] - 1] ?? 'none';
  });
  const runs = new Map<string, number>();
  const script: Script = async (task, signal) => {
    // The attempt of an inner node of a chain may be written later than it begins.
    if (task.kind === 'step' || task.kind === 'mark') {
      const run = `${task.nodeId} ${attemptOf(await world.rig.job(world.id), task.nodeId)}`;
      runs.set(run, (runs.get(run) ?? 0) + 1);
    }
    return work(task, signal);
  };
  const rig = await engineRig(t, { flows: [plan.flow], script, size: 1 + below(random, 3) });
  const world: World = { plan, random, script, runs, rig, id: '' };
  return world;
};

/** Starts the job; one of its inputs comes later. */
const startJob = async (world: World): Promise<void> => {
  const { rig, plan } = world;
  const { late, ...now } = plan.files;
  const first = await Promise.all(
    (now['in'] ?? []).map(async (name) => ({
      operation: 'upload' as const,
      uploadId: await rig.upload(name, 'text/plain', name),
    })),
  );
  const metadata = { originalName: late?.[0], mimeType: 'text/plain', size: late?.[0]?.length };
  const inputs = { in: first, ...(late === undefined ? {} : { late: { operation: 'init' as const, metadata } }) };
  world.id = (await rig.engine.start({ flowId: 'f', storageId: 'default', clientId: undefined, inputs })).id;
};

const nextLife = async (t: Test, world: World, end: 'close' | 'abandon'): Promise<void> => {
  await world.rig[end]();
  const { plan, script, random } = world;
  const { directory } = world.rig;
  world.rig = await engineRig(t, { flows: [plan.flow], script, directory, size: 1 + below(random, 3) });
};

const disturbances: Readonly<Record<string, (t: Test, world: World) => Promise<unknown>>> = {
  drain: (t, world) => nextLife(t, world, 'close'),
  loss: (t, world) => nextLife(t, world, 'abandon'),
  pause: async (_t, { rig, id, random }) => {
    await rig.engine.pause(id, undefined);
    await delay(below(random, 30));
    await rig.engine.unpause(id, undefined);
  },
  lossInPause: async (t, world) => {
    await world.rig.engine.pause(world.id, undefined);
    await nextLife(t, world, 'abandon');
    await world.rig.engine.unpause(world.id, undefined);
  },
  resume: (_t, { rig, id }) => rig.engine.resume({ jobId: id, nodeId: 'in', clientId: undefined }),
};

/** Refused once the job has ended; and what a lost life was asked for is lost with it. */
const mayFail = (error: unknown): void => {
  const { code } = error as { readonly code?: string };
  if (!['INVALID_JOB_STATE', 'FILE_NO_LONGER_EXISTS', 'ERR_SIZE_EXCEEDED'].includes(code ?? '')) throw error;
};

const disturb = async (t: Test, world: World): Promise<void> => {
  const { random, plan } = world;
  const list: string[] = Array.from({ length: 1 + below(random, 5) }, () => oneOf(random, Object.keys(disturbances)));
  const lateAt = below(random, list.length + 1);
  for (let step = 0; step <= list.length; step += 1) {
    await delay(below(random, 50));
    if (step === lateAt && plan.files['late'] !== undefined) await sendLate(world).catch(mayFail);
    await disturbances[list[step] ?? '']?.(t, world).catch(mayFail);
  }
  if (random() < 0.1) await world.rig.engine.cancel(world.id, undefined);
};

const sendLate = async ({ rig, id, plan }: World): Promise<void> => {
  const task = (await rig.job(id)).tasks.find(({ nodeId }) => nodeId === 'late');
  await rig.append(task?.uploads?.[0]?.id ?? '', plan.files['late']?.[0] ?? '');
};

const requireTidy = async (t: Test, { rig, id }: World) => {
  const job = await rig.job(id);
  const kept =
    job.status === 'failed' ? job.tasks.flatMap(({ files = [] }) => files) : Object.values(job.outputs ?? {});
  const keys = new Set(kept.map(({ key }) => key).filter((key) => key.startsWith('jobs/')));
  const extra = async () => (await rig.keys('jobs/')).filter((key) => !keys.has(key));
  await reached(async () => (await extra()).length === 0, 3000).catch(() => {});
  t.strictSame(await extra(), [], 'no files are left but what the job keeps');
  const scratch = () => readdir(join(rig.directory, 'scratch'));
  await reached(async () => (await scratch()).length === 0, 3000).catch(() => {});
  t.strictSame(await scratch(), []);
  t.equal(job.lease, undefined);
};

const requireEnd = async (t: Test, world: World, expected: Awaited<ReturnType<typeof undisturbed>>) => {
  const { rig, id, plan, runs } = world;
  const job = await rig.until(id, ...ended);
  if (job.status !== 'cancelled') t.equal(job.status, expected.status, JSON.stringify(job.error));
  if (job.status === 'completed') t.strictSame(await outputsOf(rig, job), expected.outputs);
  t.equal(findOrderProblem(plan.flow, await rig.log(id)), undefined);
  t.strictSame(
    [...runs].filter(([, count]) => count > 1),
    [],
    'one run for each attempt',
  );
  await requireTidy(t, world);
};

const playRound = async (t: Test, seed: number) => {
  const random = dice(seed);
  const plan = randomPlan(random);
  const expected = await undisturbed(t, plan);
  const world = await openWorld(t, plan, random);
  await startJob(world);
  await disturb(t, world);
  await requireEnd(t, world, expected);
  t.strictSame(world.rig.errors, []);
  if ((await world.rig.job(world.id)).status === 'failed') await retryRound(t, world);
  if (!t.passing()) t.comment(JSON.stringify(await world.rig.log(world.id)), JSON.stringify(plan.flow));
  await world.rig.close();
};

/** Nothing is broken any more, and the failed job is tried again. */
const retryRound = async (t: Test, world: World) => {
  const { plan } = world;
  const skips = [...plan.doomed].filter((id) => plan.flow.nodes[id]?.onError === 'skip');
  (plan.doomed as Set<string>).clear();
  const expected = await undisturbed(t, plan);
  await world.rig.engine.retry(world.id, undefined);
  const late = (await world.rig.job(world.id)).tasks.find(({ nodeId }) => nodeId === 'late');
  if (late !== undefined && late.status !== 'completed') await sendLate(world).catch(mayFail);
  // Whether an optional branch had been given up by then is a matter of time.
  if (skips.length > 0) await world.rig.until(world.id, ...ended);
  else await requireEnd(t, world, expected);
};

t.setTimeout((Number(FOR_SECONDS) + 60) * 1000);

const end = performance.now() + Number(FOR_SECONDS) * 1000;
for (let round = 0; round < Number(ROUNDS) && (round === 0 || performance.now() < end); round += 1) {
  const seed = Number(SEED) + round;
  await t.test(`SEED=${seed} ROUNDS=1`, (t) => playRound(t, seed));
}
