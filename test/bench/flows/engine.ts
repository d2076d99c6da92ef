/**
 * The engine as the service composes it, over the embedded drivers, without HTTP: `node engine.ts <directory> <file>
 * <flows> <workers>` runs each of the flows (ids, with commas between them) over a completed upload of that file, so
 * often. Without workers, eight jobs run at once and none of their nodes may need one.
 */
import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/drivers/clock.ts';
import { localDataStore } from '../../../src/drivers/data/local/index.ts';
import { sqliteKvStore } from '../../../src/drivers/kv/sqlite/index.ts';
import type { Adapter, HttpServices } from '../../../src/http/context.ts';
import type { JobQueue } from '../../../src/ports/job-queue.ts';
import type { WorkerPool } from '../../../src/ports/worker-pool.ts';
import { createService } from '../../../src/service.ts';
import { workerPool } from '../../../src/workers/index.ts';
import { benchFlows, inputKey } from './definitions.ts';
import { serve } from './programs.ts';

const [directory = '', file = '', flowIds = '', workers = '0'] = process.argv.slice(2);

/** The engine runs one job more than it has workers. */
const noWorkers: WorkerPool = {
  size: 7,
  run: () => Promise.reject(new Error('This flow was to need no worker')),
  close: async () => {},
};

/** Takes the parts of the service in the place of HTTP. */
const takeServices = () => {
  const { promise: services, resolve } = Promise.withResolvers<HttpServices>();
  const adapter: Adapter = {
    name: 'none',
    create: async (given) => {
      resolve(given);
      return { handler: () => {}, websocketHandler: () => {}, close: async () => {} };
    },
  };
  return { adapter, services };
};

/** Keeps back what comes in until `release`, which resolves when all of it is done. */
const heldQueue = (queue: JobQueue) => {
  const held = new Map<string, Parameters<JobQueue['enqueue']>>();
  const waiting = new Set<string>();
  let done = Promise.withResolvers<void>();
  const ended = (id: string) => {
    if (waiting.delete(id) && waiting.size === 0) done.resolve();
  };
  const wrapped: JobQueue = {
    ...queue,
    enqueue: async (...given) => void held.set(given[0].id, given),
    consume: (handler, options) =>
      queue.consume(async (entry) => {
        const outcome = await handler(entry);
        if (outcome === 'done') ended(entry.id);
        return outcome;
      }, options),
  };
  const release = async (): Promise<void> => {
    done = Promise.withResolvers();
    const entries = [...held.values()];
    held.clear();
    for (const [{ id }] of entries) waiting.add(id);
    for (const given of entries) await queue.enqueue(...given);
    await done.promise;
  };
  return { wrapped, release };
};

const kvStore = sqliteKvStore({ path: join(directory, 'sluice.db'), durability: 'full', clock: systemClock });
const { wrapped, release } = heldQueue(kvStore.queue());
const { adapter, services } = takeServices();
const service = await createService({
  dataStore: await localDataStore({ directory: join(directory, 'files'), durability: 'full' }),
  kvStore: { ...kvStore, queue: () => wrapped },
  flows: benchFlows,
  adapter,
  workerPool: workers === '0' ? noWorkers : workerPool({ size: Number(workers), memoryLimit: 2 ** 31 }),
  scratchDirectory: join(directory, 'scratch'),
});
const { engine, uploads } = await services;

const upload = async (): Promise<string> => {
  const { size } = statSync(file);
  const { id } = await uploads.create({ fileName: 'photo.jpg', type: 'image/jpeg', size });
  await uploads.append({ id, offset: 0, contentLength: size, body: createReadStream(file) });
  return id;
};
const uploadId = await upload();

const start = (flowId: string) =>
  engine.start({
    flowId,
    storageId: 'default',
    clientId: undefined,
    inputs: { [inputKey]: { operation: 'upload', uploadId } },
  });

const startAll = async (count: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    for (const flowId of flowIds.split(',')) ids.push((await start(flowId)).id);
  }
  return ids;
};

const requireCompleted = async (ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    const { status, error } = await engine.getJob(id, undefined);
    if (status !== 'completed') throw new Error(`A job is ${status}: ${JSON.stringify(error)}`);
  }
};

let before: readonly string[] = [];

serve({
  prepare: async (count) => {
    await requireCompleted(before);
    before = await startAll(count);
    return release;
  },
  close: async () => {
    await requireCompleted(before);
    await service.dispose();
  },
});
