/**
 * kill -9 of the service at the named points of a node's way into the record (`killing-service.ts`): the job completes in
 * the next life, with each output there exactly once, and at once. `kill-node.test.ts` kills in the middle of a node, the
 * worker too.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { filesBelow } from '../support/stored-files.ts';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';

t.setTimeout(300_000);

const program = fileURLToPath(new URL('killing-service.ts', import.meta.url));
const photo = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#a04020' } })
  .jpeg()
  .toBuffer();

interface Life {
  readonly url: string;
  /** With the signal that has ended it. */
  readonly ended: Promise<readonly unknown[]>;
  stop(): Promise<unknown>;
}

const startLife = async (owner: Owner, ...args: readonly string[]): Promise<Life> => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const stop = () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    return ended;
  };
  owner.teardown(async () => void (await stop()));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { url: String(line).trim(), ended, stop };
};

interface Job {
  readonly jobId: string;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly tasks: readonly { nodeId: string; status: string; attempt: number; startedAt: string; endedAt: string }[];
  readonly outputs?: Readonly<Record<string, { readonly url: string; readonly size: number }>>;
}

const ask = async (url: string, init: RequestInit = {}): Promise<Job> => {
  const response = await fetch(url, { headers: { 'content-type': 'application/json' }, ...init });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Job;
};

/** Resolves when the kill has come, or fails when the job ends without one. */
const runUntilKilled = async (life: Life): Promise<string> => {
  const client = uploadClient(life.url);
  const metadata = { originalName: 'a.jpg', mimeType: 'image/jpeg', size: photo.length };
  const body = JSON.stringify({ inputs: { in: { operation: 'init', metadata } } });
  const started = await ask(`${life.url}/api/flow/f/default`, { method: 'POST', body });
  const [input] = started.tasks as readonly { result?: { id: string } }[];
  // The kill may come before the answer.
  await client.patch(input?.result?.id ?? '', photo, { offset: 0 }).catch(() => {});
  const [code, signal] = await life.ended;
  if (signal !== 'SIGKILL') throw new Error(`It has ended with ${code} and ${signal}`);
  return started.jobId;
};

const untilComplete = async (life: Life, jobId: string): Promise<Job> => {
  for (let tries = 0; tries < 1000; tries += 1) {
    const job = await ask(`${life.url}/api/jobs/${jobId}/status`);
    if (job.status === 'completed') return job;
    if (job.status === 'failed') throw new Error(JSON.stringify(job));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It does not complete');
};

const requireOutputs = async (t: Test, life: Life, directory: string, job: Job) => {
  t.strictSame(Object.keys(job.outputs ?? {}), ['first', 'work', 'last']);
  for (const [key, width] of Object.entries({ first: 32, work: 16, last: 16 })) {
    const response = await fetch(new URL(job.outputs?.[key]?.url ?? '', life.url));
    const bytes = Buffer.from(await response.arrayBuffer());
    t.equal(bytes.length, job.outputs?.[key]?.size);
    t.match(await sharp(bytes).metadata(), { width });
  }
  const stored = (await filesBelow(join(directory, 'files'))).filter((path) => path.includes('jobs/'));
  t.equal(stored.length, 3, stored.join('\n'));
  t.strictSame(await readdir(join(directory, 'scratch', 'sluice-jobs')), []);
};

/** How often `work` has run in the end: what was checkpointed is not done again. */
const points = { wake: 1, publish: 2, checkpoint: 2, event: 1 };

const times: number[] = [];

for (const [point, runs] of Object.entries(points)) {
  for (const side of ['before', 'after']) {
    t.test(`a service that is killed ${side} ${point}`, async (t) => {
      const directory = await temporaryDirectory(t);
      const first = await startLife(t, directory, point, side);
      const jobId = await runUntilKilled(first);
      const second = await startLife(t, directory);
      const ready = performance.now();
      const job = await untilComplete(second, jobId);
      times.push(performance.now() - ready);
      await requireOutputs(t, second, directory, job);
      const attempts = job.tasks.map(({ nodeId, attempt }) => [nodeId, attempt]);
      const expected = point === 'checkpoint' && side === 'after' ? 1 : runs;
      t.strictSame(Object.fromEntries(attempts), { in: 1, first: 1, work: expected, last: 1 });
      await second.stop();
    });
  }
}

t.test('recovery does not wait for anything', (t) => {
  t.comment(`from ready to complete: ${times.map(Math.round).join(', ')} ms`);
  // The nodes' own work and the start of a worker are in it; the quietest life tells what the engine adds.
  t.ok(Math.min(...times) < 2000);
  t.ok(Math.max(...times) < 8000, 'and none has waited for a lease of ten seconds to end');
  t.end();
});
