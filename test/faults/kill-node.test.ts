/** kill -9 and cancel in the middle of a node (DESIGN 4): the job goes on or ends, and nothing of the work is left. */
import { createCipheriv } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { cpuSeconds } from '../bench/usage.ts';
import { type EventSocket, openEvents, type ReceivedFrame } from '../support/event-socket.ts';
import type { RunningService } from '../support/running-service.ts';
import { filesBelow } from '../support/stored-files.ts';
import { uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { childrenOf, isAlive } from '../workers/children.ts';
import { type Lives, prepareLives } from './lives.ts';

const openLives = await prepareLives(t, { WORKERS: '1' });

/** `slow` works on what `quick` has made, so `quick` is always done before it begins; it takes some seconds. */
const flow = {
  flowId: 'slow-flow',
  name: 'Slow flow',
  nodes: {
    photo: { type: 'file-input' },
    quick: { type: 'resize', options: { width: 2800 }, keepOutput: true },
    slow: { type: 'optimize', options: { format: 'avif', effort: 2 } },
  },
  edges: [
    { source: 'photo', target: 'quick' },
    { source: 'quick', target: 'slow' },
  ],
};

/** Six megapixels of noise, which no encoder finds easy: some seconds of one. */
const makeNoise = (): Promise<Buffer> => {
  const raw = { width: 3000, height: 2000, channels: 3 } as const;
  const bytes = Buffer.alloc(raw.width * raw.height * raw.channels);
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(bytes);
  return sharp(noise, { raw }).jpeg({ quality: 90 }).toBuffer();
};

const photo = await makeNoise();

/** A cancelled worker is gone in a tenth of a second; the rest is for a machine that has other things to do. */
const goneMs = 300;

interface RunningJob {
  readonly jobId: string;
  readonly events: EventSocket;
  /** The worker that runs `slow`. */
  readonly child: number;
}

interface Job {
  readonly jobId: string;
  readonly status: string;
  readonly tasks: readonly {
    readonly nodeId: string;
    readonly status: string;
    readonly attempt: number;
    readonly result?: { readonly id: string };
  }[];
  readonly outputs?: Readonly<Record<string, { readonly url: string; readonly size: number }>>;
  readonly error?: { readonly code: string; readonly nodeId: string };
}

const request = async ({ url }: RunningService, method: string, path: string, body?: unknown): Promise<Job> => {
  const headers = { 'content-type': 'application/json' };
  const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, ...init });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Job;
};

const isOf =
  (type: string, nodeId: string) =>
  (frame: ReceivedFrame): boolean =>
    frame.type === type && frame['nodeId'] === nodeId;

const count = ({ frames }: EventSocket, type: string, nodeId: string): number =>
  frames.filter(isOf(type, nodeId)).length;

const follow = ({ url }: RunningService, jobId: string): EventSocket => openEvents(url, `/ws/flow/${jobId}`);

/** Starts a job and sends it the photo. */
const startJob = async (service: RunningService): Promise<Pick<RunningJob, 'jobId' | 'events'>> => {
  const metadata = { originalName: 'noise.jpg', mimeType: 'image/jpeg', size: photo.length };
  const inputs = { photo: { operation: 'init', metadata } };
  const job = await request(service, 'POST', '/api/flow/slow-flow/default', { inputs });
  const events = follow(service, job.jobId);
  const response = await uploadClient(service.url).patch(job.tasks[0]?.result?.id ?? '', photo, { offset: 0 });
  if (response.status !== 200) throw new Error(await response.text());
  return { jobId: job.jobId, events };
};

/** The worker, once it is at work on try number `attempt` of `slow`. */
const busyWorker = async (service: RunningService, events: EventSocket, attempt = 1): Promise<number> => {
  await until(
    () => count(events, 'node_completed', 'quick') === 1 && count(events, 'node_started', 'slow') === attempt,
  );
  let child = 0;
  await until(async () => {
    child = (await childrenOf(service.pid))[0] ?? 0;
    return child !== 0;
  });
  const before = cpuSeconds(child);
  // More than a worker needs to start, so that it is the node that it works on. Workers give way to everything else on
  // the machine, so this may take its time.
  await until(() => cpuSeconds(child) > before + 0.7, 60_000);
  return child;
};

const startSlow = async (service: RunningService): Promise<RunningJob> => {
  const job = await startJob(service);
  return { ...job, child: await busyWorker(service, job.events) };
};

const scratchOf = ({ data }: Lives): Promise<readonly string[]> => readdir(join(data, 'scratch', 'sluice-jobs'));

/** Each output is there once, whole, and nothing else is on the disk. */
const requireOutputs = async (t: Test, lives: Lives, service: RunningService, jobId: string) => {
  const { outputs = {}, status } = await request(service, 'GET', `/api/jobs/${jobId}/status`);
  t.equal(status, 'completed');
  t.strictSame(Object.keys(outputs), ['quick', 'slow']);
  for (const [key, format, width] of [
    ['quick', 'jpeg', 2800],
    ['slow', 'heif', 2800],
  ] as const) {
    const response = await fetch(new URL(outputs[key]?.url ?? '', service.url));
    const bytes = Buffer.from(await response.arrayBuffer());
    t.equal(bytes.length, outputs[key]?.size);
    t.match(await sharp(bytes).metadata(), { format, width });
  }
  const files = await filesBelow(join(lives.data, 'files'));
  t.equal(files.length, 2, files.join('\n'));
  t.strictSame(await scratchOf(lives), []);
};

const numbersOf = ({ frames }: EventSocket): readonly number[] => frames.slice(1).map(({ seq }) => seq);

const openFlow = async (t: Test): Promise<Lives> => {
  const lives = await openLives(t);
  await writeFile(join(lives.flows, 'slow-flow.json'), JSON.stringify(flow));
  return lives;
};

void t.test('a job whose service is killed in the middle of a node completes in its next life', async (t) => {
  const lives = await openFlow(t);
  const first = await lives.start();
  const { jobId, events, child } = await startSlow(first);
  t.ok((await scratchOf(lives)).length > 0, 'the node has its scratch folder');
  await first.stop('SIGKILL');
  await events.closed;
  t.equal(count(events, 'node_completed', 'slow'), 0, 'the kill came in the middle');
  await until(() => !isAlive(child), 2000);
  t.pass('the worker is gone with its service');

  const second = await lives.start();
  const again = follow(second, jobId);
  await again.until('flow_complete');
  await requireOutputs(t, lives, second, jobId);
  t.equal(count(again, 'node_started', 'slow'), 2);
  t.equal(count(again, 'node_started', 'quick'), 1, 'what was checkpointed is not done again');
  for (const node of ['quick', 'slow']) t.equal(count(again, 'node_completed', node), 1);
  t.strictSame(
    numbersOf(again),
    [...numbersOf(again).keys()].map((index) => index + 1),
    'one log, without a gap',
  );
  t.notMatch(second.output(), /"level":"(error|fatal)"/);
});

void t.test('with a living service under it', async (t) => {
  const lives = await openFlow(t);
  const service = await lives.start();

  await t.test('a node whose worker is killed is tried again, and the job completes', async (t) => {
    const { jobId, events, child } = await startSlow(service);
    process.kill(child, 'SIGKILL');
    const retrying = await events.until('node_retrying');
    t.match(retrying, { nodeId: 'slow', attempt: 1, error: { code: 'NODE_CRASHED' } });
    await events.until('flow_complete');
    await requireOutputs(t, lives, service, jobId);
    const { tasks } = await request(service, 'GET', `/api/jobs/${jobId}/status`);
    t.match(
      tasks.find(({ nodeId }) => nodeId === 'slow'),
      { status: 'completed', attempt: 2 },
    );
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  });

  await t.test('a native encoder that nobody needs any more is ended at once', async (t) => {
    const times: number[] = [];
    // Other work on the machine may get in the way of one of them.
    while (times.length < 3 && Math.min(...times) > goneMs) {
      const { jobId, child } = await startSlow(service);
      const before = performance.now();
      const cancelled = request(service, 'POST', `/api/jobs/${jobId}/cancel`);
      await until(() => !isAlive(child), 2000);
      times.push(performance.now() - before);
      await cancelled;
      await until(async () => (await scratchOf(lives)).length === 0, 2000);
    }
    t.comment(`from the request to the end of the worker: ${times.map(Math.round).join(', ')} ms`);
    t.ok(Math.min(...times) < goneMs);
  });

  await t.test(
    'a job that is cancelled in the middle of a node ends at once, with its worker and its files',
    async (t) => {
      const kept = await filesBelow(join(lives.data, 'files'));
      const { jobId, events, child } = await startSlow(service);
      t.equal((await request(service, 'POST', `/api/jobs/${jobId}/cancel`)).status, 'cancelled');
      await until(() => !isAlive(child), 2000);
      t.pass('the worker is gone');
      await events.until('flow_cancelled');
      await until(async () => (await scratchOf(lives)).length === 0, 2000);
      t.strictSame(await filesBelow(join(lives.data, 'files')), kept);
      t.equal((await events.closed).code, 1000);
      t.equal(events.frames.at(-1)?.type, 'flow_cancelled', 'nothing follows');
      t.equal((await request(service, 'GET', `/api/jobs/${jobId}/status`)).status, 'cancelled');
    },
  );

  await t.test('a node whose worker is killed at every try fails the job, and only that', async (t) => {
    const { jobId, events } = await startJob(service);
    for (const attempt of [1, 2, 3]) process.kill(await busyWorker(service, events, attempt), 'SIGKILL');
    const { error } = await events.until('flow_error');
    t.match(error, { code: 'NODE_CRASHED', nodeId: 'slow' });
    t.match(await request(service, 'GET', `/api/jobs/${jobId}/status`), {
      status: 'failed',
      error: { code: 'NODE_CRASHED', nodeId: 'slow' },
    });
    t.strictSame(await scratchOf(lives), []);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  });
});
