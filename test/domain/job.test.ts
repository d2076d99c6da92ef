import { test } from 'tap';
import {
  findTask,
  isEnded,
  isTaskSettled,
  type JobRecord,
  type JobStatus,
  progressOf,
  type TaskStatus,
  withTask,
  withWaitCounted,
} from '../../src/domain/job.ts';

const task = (nodeId: string, status: TaskStatus) => ({ nodeId, status, attempt: 0 });

const jobOf = (...statuses: readonly TaskStatus[]): JobRecord => ({
  id: 'job',
  flowId: 'x',
  definitionHash: 'hash',
  storageId: 'default',
  status: 'running',
  tasks: statuses.map((status, index) => task(`n${index}`, status)),
  createdAt: '2026-11-20T00:00:00.000Z',
  updatedAt: '2026-11-20T00:00:00.000Z',
  runningMs: 0,
  epoch: 0,
  wakes: 0,
  seq: 0,
});

test('a job has ended when nothing will happen to it', async (t) => {
  const statuses: readonly JobStatus[] = ['pending', 'running', 'paused', 'completed', 'failed', 'cancelled'];
  t.same(
    statuses.filter((status) => isEnded({ ...jobOf(), status })),
    ['completed', 'failed', 'cancelled'],
  );
});

test('a task is settled when it will not change again', async (t) => {
  const open: readonly TaskStatus[] = ['pending', 'running', 'paused', 'retrying'];
  const settled: readonly TaskStatus[] = ['completed', 'failed', 'skipped', 'cancelled'];
  t.same(
    [...open, ...settled].filter((status) => isTaskSettled(task('a', status))),
    settled,
  );
});

test('one task changes, the others and the old record stay', async (t) => {
  const job = jobOf('completed', 'pending');
  const changed = withTask(job, 'n1', { status: 'running', attempt: 1 });
  t.strictSame(findTask(changed, 'n1'), { nodeId: 'n1', status: 'running', attempt: 1 });
  t.equal(changed.tasks[0], job.tasks[0]);
  t.equal(findTask(job, 'n1')?.status, 'pending');
  t.equal(findTask(job, 'n2'), undefined);
});

test('progress is the share of settled tasks', async (t) => {
  t.equal(progressOf(jobOf('completed', 'skipped', 'running', 'pending')), 0.5);
  t.equal(progressOf(jobOf('completed')), 1);
  t.equal(progressOf(jobOf()), 1);
});

test('a wait for a retry counts until it is over, and not beyond its time: then nobody has looked', async (t) => {
  const tasks = [
    { ...task('a', 'retrying'), retryAt: 9000 },
    { ...task('b', 'retrying'), retryAt: 5000 },
  ];
  const job = { ...jobOf(), tasks, runningMs: 10, waitsSince: 2000 };
  t.match(withWaitCounted(job, 2300), { runningMs: 310, waitsSince: undefined });
  t.equal(withWaitCounted(job, 3_600_000).runningMs, 3010);
  const { waitsSince: _, ...held } = job;
  t.equal(withWaitCounted(held, 2300).runningMs, 10);
});
