/**
 * The floor of the engine: what SQLite alone takes for the writes of a flow of five nodes. `node floor.ts <directory>`
 * claims each job, checkpoints its five nodes and ends it, eight jobs side by side: each step of all eight is one
 * transaction, as the store makes it of what comes together. Nothing is read, decided or told to anybody.
 */
import { join } from 'node:path';
import type { JobFile, JobRecord } from '../../../src/domain/job.ts';
import { createTransaction, openDatabase } from '../../../src/drivers/kv/sqlite/database.ts';
import { createRecords, toWrite, type Write } from '../../../src/drivers/kv/sqlite/records.ts';
import { createLeases } from '../../../src/drivers/queue/sqlite/leases.ts';
import { serve } from './programs.ts';

const [directory = ''] = process.argv.slice(2);
const database = openDatabase(join(directory, 'floor.db'));
const transaction = createTransaction(database);
const records = createRecords(database);
const leases = createLeases(database);

const sideBySide = 8;
const nodes = ['photo', 'first', 'second', 'third', 'result'] as const;
const at = new Date(0).toISOString();

const file: JobFile = {
  ...{ key: 'uploads/0197aa00-0000-7000-8000-000000000000', storageId: 'default', size: 3_500_000 },
  ...{ mimeType: 'image/jpeg', fileName: 'photo.jpg', owned: false },
  uploadId: '0197aa00-0000-7000-8000-000000000000',
};

/** As it is once so many nodes are done. */
const jobAfter = (id: string, done: number): JobRecord => ({
  ...{ id, flowId: 'no-op', definitionHash: '0'.repeat(64), storageId: 'default' },
  status: done > nodes.length ? 'completed' : 'running',
  tasks: nodes.map((nodeId, index) =>
    index < done
      ? { nodeId, status: 'completed', attempt: 1, files: [file], startedAt: at, endedAt: at }
      : { nodeId, status: 'pending', attempt: 0 },
  ),
  ...{ createdAt: at, updatedAt: at, startedAt: at, runningMs: 0, epoch: 1, wakes: 1, seq: 1 + 2 * done },
  ...(done > nodes.length
    ? { outputs: { result: { ...file, nodeId: 'result' } }, endedAt: at }
    : { lease: { entry: `${id}-1`, until: 10_000 } }),
});

/** The record at version `step + 1`: made, claimed, after each of the nodes, ended. */
const writeOf = (id: string, step: number): Write => {
  const nodeId = nodes[step - 2];
  const event = { timestamp: at } as const;
  const events = [
    { ...event, type: 'node_started', nodeId: nodeId ?? '', seq: 2 * step },
    { ...event, type: 'node_completed', nodeId: nodeId ?? '', seq: 2 * step + 1 },
  ] as const;
  const end = { ...event, type: 'flow_complete', seq: 2 * step } as const;
  return toWrite({
    collection: 'jobs',
    id,
    value: jobAfter(id, Math.max(0, step - 1)),
    expectedVersion: step,
    dueAt: 10_000,
    events: nodeId !== undefined ? events : step > nodes.length ? [end] : [],
  });
};

interface Job {
  readonly id: string;
  readonly writes: readonly Write[];
}

let made = 0;

const makeJob = (): Job => {
  made += 1;
  const id = `0197aa00-0000-7000-8000-${String(made).padStart(12, '0')}`;
  transaction(() => records.write(writeOf(id, 0)));
  return { id, writes: Array.from({ length: nodes.length + 2 }, (_, index) => writeOf(id, index + 1)) };
};

const runTogether = (jobs: readonly Job[]): void => {
  const claims = jobs.flatMap(() => leases.claim('1', 1, 10_000) ?? []);
  for (const step of jobs[0]?.writes.keys() ?? []) {
    transaction(() => {
      for (const { writes } of jobs)
        if (records.write(writes[step]!) === undefined) throw new Error('A write was lost');
    });
  }
  for (const claim of claims) leases.remove(claim);
};

serve({
  prepare: async (count) => {
    const jobs = Array.from({ length: count }, makeJob);
    return async () => {
      for (const { id } of jobs) leases.insert({ id: `${id}-1`, jobId: id }, 0);
      for (let from = 0; from < count; from += sideBySide) runTogether(jobs.slice(from, from + sideBySide));
    };
  },
  close: async () => database.close(),
});
