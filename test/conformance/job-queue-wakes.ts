/** What a job queue does with the wake-ups of a job: entries with numbers, whatever becomes of the ones before. */
import type { Test } from 'tap';
import type { JobQueue, QueueEntry, QueueHandler } from '../../src/ports/job-queue.ts';
import { gate, quiet, until } from '../support/wait.ts';

type Case = (title: string, run: (t: Test, queue: JobQueue) => Promise<void>) => void;

export const entry = (id: string, jobId = `job of ${id}`): QueueEntry => ({ id, jobId });

export const waking = (test: Case): void => {
  for (const concurrency of [1, 2]) {
    test(`an entry that comes while another of its job is held is not lost, with room for ${concurrency}`, async (t, queue) => {
      const { passed, open } = gate();
      const seen: string[] = [];
      const handler: QueueHandler = async ({ id }) => {
        seen.push(id);
        if (id === 'job-1') await passed;
        return 'done';
      };
      queue.consume(handler, { concurrency });
      await queue.enqueue(entry('job-1', 'job'));
      await until(() => seen.length === 1);
      await queue.enqueue(entry('job-2', 'job'));
      if (concurrency > 1) await until(() => seen.length === 2);
      open();
      await until(() => seen.length === 2);
      await quiet();
      t.same(seen, ['job-1', 'job-2']);
    });
  }

  test('nor are those that come as their holder lets go', async (t, queue) => {
    const seen: string[] = [];
    const rounds = 100;
    const handler: QueueHandler = async ({ id, jobId }) => {
      seen.push(id);
      // Before, with and after the outcome of this one.
      const next = () => queue.enqueue(entry(`${jobId}-${seen.length}`, jobId));
      if (seen.length >= rounds) return 'done';
      if (seen.length % 3 === 0) await next();
      else if (seen.length % 3 === 1) void next();
      else setImmediate(next);
      return 'done';
    };
    queue.consume(handler, { concurrency: 1 });
    await queue.enqueue(entry('job-0', 'job'));
    await until(() => seen.length === rounds);
    await quiet();
    t.same(
      seen,
      Array.from({ length: rounds }, (_, index) => `job-${index}`),
    );
  });
};
