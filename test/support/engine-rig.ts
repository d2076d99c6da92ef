/** The engine and the uploads over real drivers, the embedded ones by default, with nodes that a test scripts. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
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
import type { DataStore } from '../../src/ports/data-store.ts';
import type { EventBroadcaster } from '../../src/ports/event-broadcaster.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import type { WorkerNotice, WorkerOutput, WorkerPool, WorkerStep, WorkerTask } from '../../src/ports/worker-pool.ts';
import { createUploads, type Uploads } from '../../src/uploads/index.ts';
import { mortal } from './mortal.ts';
import { temporaryDirectory } from './temporary.ts';
import { testKinds } from './test-kinds.ts';

/** One step over its files. */
export type ScriptTask = WorkerStep & Pick<WorkerTask, 'files' | 'directory'>;

/** What a `step` node does, by the option `name`; throws to fail. */
export type Script = (task: ScriptTask, signal: AbortSignal) => Promise<readonly WorkerOutput[]>;

/** Runs tasks by the script, step by step, and tells as a worker does. */
export const scriptedPool = (script: Script, size = 2): WorkerPool => ({
  size,
  run: async (task, signal, tell = () => {}) => {
    signal.throwIfAborted();
    const outputs: (readonly WorkerOutput[])[] = [];
    for (const chain of task.chains) outputs.push(await runChain(script, task, chain, signal, tell));
    return outputs;
  },
  close: async () => {},
});

const runChain = async (
  script: Script,
  task: WorkerTask,
  chain: readonly WorkerStep[],
  signal: AbortSignal,
  tell: (notice: WorkerNotice) => void,
): Promise<readonly WorkerOutput[]> => {
  let outputs: readonly WorkerOutput[] = [];
  let { files } = task;
  for (const step of chain) {
    tell({ type: 'started', nodeId: step.nodeId, at: Date.now() });
    outputs = await script({ ...step, files, directory: join(task.directory, step.nodeId) }, signal);
    signal.throwIfAborted();
    tell({ type: 'completed', nodeId: step.nodeId, at: Date.now() });
    files = outputs.filter((output) => 'path' in output);
  }
  return outputs;
};

/** Writes `text` as the one output of a task. */
export const deliver = (task: ScriptTask, text: string): Promise<readonly WorkerOutput[]> =>
  deliverAll(task, [{ text, fileName: task.files[0]?.fileName ?? 'none' }]);

/** Writes the outputs of a task, of the type of its first file. */
export const deliverAll = async (
  task: ScriptTask,
  files: readonly { readonly text: string; readonly fileName: string }[],
): Promise<readonly WorkerOutput[]> => {
  await mkdir(task.directory, { recursive: true });
  const mimeType = task.files[0]?.mimeType ?? 'text/plain';
  return Promise.all(
    files.map(async ({ text, fileName }, index) => {
      const path = join(task.directory, `${index}.bin`);
      await writeFile(path, text);
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { path, fileName, mimeType, size: Buffer.byteLength(text), sha256, meta: {} };
    }),
  );
};

export interface Rig {
  readonly engine: Engine;
  readonly uploads: Uploads;
  readonly directory: string;
  readonly errors: unknown[];
  /** The events of a job as they are logged. */
  log(id: string): Promise<readonly LoggedEvent[]>;
  /** The text under a key of the data store. */
  read(key: string): Promise<string>;
  /** Keys in the data store. */
  keys(prefix: string): Promise<readonly string[]>;
  removeFile(key: string): Promise<void>;
  job(id: string): Promise<JobRecord>;
  events(id: string): Promise<readonly string[]>;
  /** Waits until the job has one of these statuses. */
  until(id: string, ...statuses: string[]): Promise<JobRecord>;
  /** Uploads the text as a complete upload of nobody's flow. */
  upload(content: string, type?: string, fileName?: string): Promise<string>;
  /** Appends to an upload. */
  append(id: string, content: string): Promise<void>;
  close(): Promise<void>;
  /** Ends it as `kill -9` does: nothing that still runs can read or write any more. */
  abandon(): Promise<void>;
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
  readonly retention?: { readonly retry?: number; readonly pause?: number; readonly result?: number };
  /** Shared with other rigs; the caller's to clean. Default: SQLite and events of this process. */
  readonly shared?: { readonly kvStore: KvStore; readonly eventBroadcaster: EventBroadcaster };
  /** Bytes. */
  readonly scratchMax?: number;
  /** Put something in front of a driver. */
  readonly wrapData?: (store: DataStore) => DataStore;
  readonly wrapRecords?: (store: KvStore) => KvStore;
  readonly wrapEvents?: (events: EventBroadcaster) => EventBroadcaster;
}

export const engineRig = async (t: Test, options: RigOptions): Promise<Rig> => {
  const directory = options.directory ?? (await temporaryDirectory(t));
  const files = await localDataStore({ directory: join(directory, 'files'), durability: 'process' });
  const records =
    options.shared?.kvStore ??
    sqliteKvStore({ path: join(directory, 'kv.db'), durability: 'process', clock: systemClock });
  const life = mortal();
  const same = <T>(driver: T): T => driver;
  const dataStore = (options.wrapData ?? same)(life.lend(files));
  const kvStore = (options.wrapRecords ?? same)(life.lend(records));
  const eventBroadcaster = (options.wrapEvents ?? same)(options.shared?.eventBroadcaster ?? localEvents());
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
    kinds: { ...kinds, ...testKinds },
    uploads,
    append: uploads.append,
    storage,
    scratch: {
      // Services that share a directory have one folder each, as each one empties its own when it starts.
      directory: join(directory, 'scratch', ...(options.shared === undefined ? [] : [systemClock.newId()])),
      max: options.scratchMax ?? 1e9,
      interval: 20,
    },
    limits: { maxPixels: 1e8, maxSide: 16383 },
    defaults: { timeout: 60_000, retries: 2 },
    retention: { retry: 3_600_000, pause: 3_600_000, ...options.retention },
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
    await records.close();
  };
  const abandon = async () => {
    if (closed) return;
    closed = true;
    await life.end();
    await records.close();
    // Nobody listens any more; this only lets the process of the test end.
    await engine.drain();
  };
  t.teardown(close);
  return {
    engine,
    uploads,
    directory,
    errors,
    log: (id) => kvStore.events('jobs', id, 0),
    read: async (key) => text(await dataStore.read(key)),
    keys: (prefix) => dataStore.list(prefix),
    removeFile: (key) => dataStore.remove(key),
    job,
    async events(id) {
      return (await kvStore.events('jobs', id, 0)).map((event) =>
        'nodeId' in event ? `${event.type} ${event.nodeId}` : event.type,
      );
    },
    async until(id, ...statuses) {
      for (let tries = 0; tries < 1000; tries++) {
        const record = await job(id);
        if (statuses.includes(record.status)) return record;
        await sleep(10);
      }
      throw new Error(`job ${id} is ${(await job(id)).status}, not ${statuses.join(' or ')}`);
    },
    async upload(content, type = 'text/plain', fileName = 'input.txt') {
      const bytes = Buffer.from(content);
      const { id } = await uploads.create({ fileName, size: bytes.length, type });
      await uploads.append({ id, offset: 0, contentLength: bytes.length, body: Readable.from([bytes]) });
      return id;
    },
    async append(id, content) {
      const { offset } = await uploads.get(id, undefined);
      await uploads.append({ id, offset, contentLength: content.length, body: Readable.from([Buffer.from(content)]) });
    },
    close,
    abandon,
  };
};
