/** The engine and the uploads over the real embedded drivers, with nodes that a test scripts. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { Type } from 'typebox';
import { ServiceError } from '../../src/domain/errors.ts';
import type { LoggedEvent } from '../../src/domain/event.ts';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import type { Quota } from '../../src/domain/quota.ts';
import { systemClock } from '../../src/drivers/clock.ts';
import { localDataStore } from '../../src/drivers/data/local/index.ts';
import { localEvents } from '../../src/drivers/events/local/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { createEngine, type Engine } from '../../src/engine/index.ts';
import { createPublish } from '../../src/events/publish.ts';
import { kinds } from '../../src/nodes/index.ts';
import { defineNode } from '../../src/ports/node.ts';
import type { WorkerOutput, WorkerPool, WorkerStep, WorkerTask } from '../../src/ports/worker-pool.ts';
import { createUploads, type Uploads } from '../../src/uploads/index.ts';
import { temporaryDirectory } from './temporary.ts';

/** One step over its files. */
export type ScriptTask = WorkerStep & Pick<WorkerTask, 'files' | 'directory'>;

/** What a `step` node does, by the option `name`; throws to fail. */
export type Script = (task: ScriptTask, signal: AbortSignal) => Promise<readonly WorkerOutput[]>;

/** Runs tasks of one step by the script. */
export const scriptedPool = (script: Script, size = 2): WorkerPool => ({
  size,
  run: async (task, signal) => {
    signal.throwIfAborted();
    const [[step, ...more] = [], ...others] = task.chains;
    if (step === undefined || more.length + others.length > 0) throw new Error('Only single steps can be scripted');
    return [await script({ ...step, files: task.files, directory: join(task.directory, step.nodeId) }, signal)];
  },
  close: async () => {},
});

/** A kind that runs the test's script. */
export const stepNode = defineNode({
  kind: 'step',
  name: 'Step',
  role: 'process',
  options: Type.Object({ name: Type.Optional(Type.String()) }, { additionalProperties: false }),
  accepts: ['*/*'],
  produces: (_options, incoming) => incoming,
});

/** Writes `text` as the one output of a task. */
export const deliver = async (task: ScriptTask, text: string): Promise<readonly WorkerOutput[]> => {
  const path = join(task.directory, 'out.bin');
  await mkdir(task.directory, { recursive: true });
  await writeFile(path, text);
  const [file] = task.files;
  const sha256 = Buffer.from(text.padEnd(32, '.')).toString('hex').slice(0, 64);
  const { fileName = 'none', mimeType = 'text/plain' } = file ?? {};
  return [{ path, fileName, mimeType, size: text.length, sha256, meta: {} }];
};

export interface Rig {
  readonly engine: Engine;
  readonly uploads: Uploads;
  readonly directory: string;
  readonly errors: unknown[];
  /** Keys in the data store. */
  keys(prefix: string): Promise<readonly string[]>;
  removeFile(key: string): Promise<void>;
  job(id: string): Promise<JobRecord>;
  events(id: string): Promise<readonly string[]>;
  /** Waits until the job has one of these statuses. */
  until(id: string, ...statuses: string[]): Promise<JobRecord>;
  /** Uploads the text as a complete upload of nobody's flow. */
  upload(text: string, type?: string): Promise<string>;
  /** Appends to an upload. */
  append(id: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly flows: readonly FlowDefinition[];
  readonly script: Script;
  readonly directory?: string;
  readonly retryDelay?: number;
  readonly size?: number;
  /** Milliseconds. */
  readonly uploadTtl?: number;
  readonly quota?: Quota;
  readonly retention?: { readonly retry?: number; readonly result?: number };
}

export const engineRig = async (t: Test, options: RigOptions): Promise<Rig> => {
  const directory = options.directory ?? (await temporaryDirectory(t));
  const dataStore = await localDataStore({ directory: join(directory, 'files'), durability: 'process' });
  const kvStore = sqliteKvStore({ path: join(directory, 'kv.db'), durability: 'process', clock: systemClock });
  const eventBroadcaster = localEvents();
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const publish = createPublish({ kvStore, eventBroadcaster, clock: systemClock, onNotifyError: onError });
  const storage = (id: string) => {
    if (id === 'default') return dataStore;
    throw new ServiceError('STORAGE_NOT_FOUND');
  };
  const uploads: Uploads = createUploads({
    kvStore,
    publish,
    clock: systemClock,
    storage,
    tellJob: async ({ flow }) => (flow === undefined ? undefined : engine.wake(flow.jobId)),
    maxUploadSize: 1_000_000,
    pace: { idleMs: 5000, minRate: 0 },
    quota: options.quota ?? {},
    uploadTtl: options.uploadTtl ?? 3_600_000,
    onError,
  });
  const workerPool = scriptedPool(options.script, options.size);
  const queue = kvStore.queue();
  const engine: Engine = createEngine({
    kvStore,
    publish,
    queue,
    eventBroadcaster,
    workerPool,
    clock: systemClock,
    flows: () => Object.fromEntries(options.flows.map((flow) => [flow.flowId, flow])),
    kinds: { ...kinds, step: stepNode },
    uploads,
    append: uploads.append,
    storage,
    scratchDirectory: join(directory, 'scratch'),
    limits: { maxPixels: 1e8, maxSide: 16383 },
    defaults: { timeout: 60_000, retries: 2 },
    retention: { retry: 3_600_000, ...options.retention },
    retryDelay: () => options.retryDelay ?? 1,
    onError,
  });
  await engine.work();
  const job = async (id: string) => engine.getJob(id, undefined);
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await engine.drain();
    await queue.close();
    await kvStore.close();
  };
  t.teardown(close);
  return {
    engine,
    uploads,
    directory,
    errors,
    keys: (prefix) => dataStore.list(prefix),
    removeFile: (key) => dataStore.remove(key),
    job,
    async events(id) {
      const log: readonly LoggedEvent[] = await kvStore.events('jobs', id, 0);
      return log.map((event) => ('nodeId' in event ? `${event.type} ${event.nodeId}` : event.type));
    },
    async until(id, ...statuses) {
      for (let tries = 0; tries < 1000; tries++) {
        const record = await job(id);
        if (statuses.includes(record.status)) return record;
        await sleep(10);
      }
      throw new Error(`job ${id} is ${(await job(id)).status}, not ${statuses.join(' or ')}`);
    },
    async upload(text, type = 'text/plain') {
      const bytes = Buffer.from(text);
      const { id } = await uploads.create({ fileName: 'input.txt', size: bytes.length, type });
      await uploads.append({ id, offset: 0, contentLength: bytes.length, body: Readable.from([bytes]) });
      return id;
    },
    async append(id, text) {
      const { offset } = await uploads.get(id, undefined);
      await uploads.append({ id, offset, contentLength: text.length, body: Readable.from([Buffer.from(text)]) });
    },
    close,
  };
};
