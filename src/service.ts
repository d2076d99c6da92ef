/**
 * The composition, in reading order: drivers, then services, then HTTP. Nothing else wires parts together: `uploads`,
 * `engine` and `events` know each other only by the functions that are handed across here.
 */
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from './domain/errors.ts';
import type { FlowDefinition } from './domain/flow.ts';
import { systemClock as clock } from './drivers/clock.ts';
import { localEvents } from './drivers/events/local/index.ts';
import { createEngine, type Engine } from './engine/index.ts';
import { checkFlow } from './engine/load/check-flow.ts';
import { createFollow, type Follow } from './events/follow.ts';
import { createPublish } from './events/publish.ts';
import type { Adapter, FileDelivery, HttpHandlers, Probes } from './http/context.ts';
import { createLinks } from './http/links.ts';
import { createSignedFiles } from './http/signed-files.ts';
import { kinds as builtIn } from './nodes/index.ts';
import { loadKinds } from './nodes/plugins/load-kinds.ts';
import type { DataStore } from './ports/data-store.ts';
import type { EventBroadcaster } from './ports/event-broadcaster.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { KvStore } from './ports/kv-store.ts';
import type { NodeKinds } from './ports/node.ts';
import type { WorkerPool } from './ports/worker-pool.ts';
import { createUploads, type Uploads } from './uploads/index.ts';
import { version } from './version.ts';
import { workerPool } from './workers/index.ts';

export interface ServiceOptions {
  /** Where bytes live that name no other storage: the storage `default`. */
  readonly dataStore: DataStore;
  /** Further storages by their ids, which clients name as `storageId`. */
  readonly storages?: Readonly<Record<string, DataStore>>;
  /** Where records live, and the job queue beside them. */
  readonly kvStore: KvStore;
  /** The flows by their ids; `loadFlows` makes this of a directory. */
  readonly flows: Readonly<Record<string, FlowDefinition>>;
  /** The web framework: `fastifyAdapter()`. */
  readonly adapter: Adapter;
  /** Modules with node kinds of the host's own: paths below the working directory, or packages (docs/plugins.md). */
  readonly plugins?: readonly string[];
  /** Wakes watchers on all replicas; default: within this process. */
  readonly eventBroadcaster?: EventBroadcaster;
  /** Path under which the service is reached, or an absolute address that ends with it; default `/sluice`. */
  readonly baseUrl?: string;
  /** Where nodes run; default: as many child processes as there are processors. It must know the plugins too. */
  readonly workerPool?: WorkerPool;
  /** A folder in here holds the work of nodes; default: the system's temporary directory. */
  readonly scratchDirectory?: string;
  /** Limits and defaults; see `defaultLimits`. */
  readonly limits?: Partial<ServiceLimits>;
  /** How files get to clients; see `FileOptions`. */
  readonly files?: FileOptions;
  /** Hears of what goes wrong where no request waits for an answer. */
  readonly onError?: OnError;
}

export interface FileOptions {
  /** `redirect`: from the storage itself, where it can sign an address; default `proxy`: through this service. */
  readonly mode?: 'proxy' | 'redirect';
  /** Signs the addresses of files, which then cannot be read without; the same for all replicas. Default: none does. */
  readonly secret?: string | undefined;
  /** Milliseconds for which a signed address works, this service's or a storage's; at most a week, default an hour. */
  readonly ttl?: number;
}

export interface ServiceLimits {
  /** Bytes. */
  readonly maxUploadSize: number;
  /** Milliseconds without a byte after which a body is ended. */
  readonly uploadIdleTimeout: number;
  /** Bytes a second, on average over `uploadIdleTimeout`, below which a body is ended; 0: none. */
  readonly uploadMinRate: number;
  /** Milliseconds after its last commit when an incomplete upload expires. */
  readonly uploadTtl: number;
  /** Uploads of one client that have not settled. Default: no limit. */
  readonly quotaOpenUploads?: number | undefined;
  /** Bytes that the uploads of one client take up. Default: no limit. */
  readonly quotaStoredBytes?: number | undefined;
  /** Milliseconds in `running`, for flows that say nothing. */
  readonly flowTimeout: number;
  /** Tries after the first, for flows and nodes that say nothing. */
  readonly flowRetries: number;
  /** Milliseconds after its end for which a failed job can be tried again; then its files are removed. */
  readonly retryTtl: number;
  /** Milliseconds for which a job may be stopped by its user; then it fails. */
  readonly pauseTtl: number;
  /** Milliseconds after its end when a job is removed with all its outputs. Default: never. */
  readonly resultTtl?: number | undefined;
  /** Bytes that the work of all nodes may take at a time in the scratch directory. */
  readonly scratchMax: number;
  /** Pixels of an image that nodes decode. */
  readonly maxImagePixels: number;
}

export interface Service extends Pick<HttpHandlers, 'handler' | 'websocketHandler'> {
  /**
   * Puts these flows in the place of all that were there. Throws as `createService` does when one of them is not valid,
   * and all stays as it was. Jobs keep the definition that they started with.
   */
  replaceFlows(flows: ServiceOptions['flows']): void;
  /** Takes nothing new, lets what runs come to a safe point, closes everything that the options gave. */
  dispose(): Promise<void>;
}

export const defaultLimits: ServiceLimits = {
  maxUploadSize: 5 * 2 ** 30,
  uploadIdleTimeout: 60_000,
  uploadMinRate: 256,
  uploadTtl: 24 * 3_600_000,
  flowTimeout: 600_000,
  flowRetries: 2,
  retryTtl: 24 * 3_600_000,
  pauseTtl: 24 * 3_600_000,
  scratchMax: 20 * 2 ** 30,
  maxImagePixels: 100_000_000,
};

/** The largest side that WebP can hold, and the limit for every output (DESIGN 6). */
const maxSide = 16_383;

/** How often deadlines are looked at, and how far ahead at the start: what a crash cut off is due within that. */
const recoverMs = 10_000;
const recoverAheadMs = 15_000;
/** How often the data store is searched for what no record tells of. */
const sweepMs = 3_600_000;

/** Throws a `TypeError` that names the option when one is missing, and when a plugin or a flow is not valid. */
export const createService = async (options: ServiceOptions): Promise<Service> => {
  requireOptions(options);
  const kinds = await loadKinds(builtIn, options.plugins ?? []);
  requireFlows(options.flows, kinds);
  const drivers = openDrivers(options);
  let { flows } = options;
  const services = composeServices(options, drivers, { kinds, flows: () => flows });
  const files = deliveryOf(options.files);
  let draining = false;
  const http = await options.adapter.create({
    ...services,
    links: createLinks(options.baseUrl ?? '/sluice', files.signed?.sign),
    files,
    probes: {
      ...probesOf(drivers.storages),
      kvStore: () => drivers.kvStore.ping(),
      eventBroadcaster: () => drivers.eventBroadcaster.ping(),
      jobQueue: () => drivers.queue.ping(),
    },
    version,
    maxUploadSize: limitsOf(options).maxUploadSize,
    isDraining: () => draining,
  });
  const stopRecovery = await startRecovery(services, drivers);
  await services.engine.work();
  return {
    handler: http.handler,
    websocketHandler: http.websocketHandler,
    replaceFlows(next) {
      requireFlows(next, kinds);
      flows = next;
    },
    async dispose() {
      draining = true;
      stopRecovery();
      await Promise.all([services.uploads.drain(), services.engine.drain()]);
      await http.close();
      for (const name of ['workerPool', 'queue', 'eventBroadcaster', 'kvStore'] as const) await drivers[name].close();
      for (const store of drivers.storages.values()) await store.close();
    },
  };
};

type OnError = (error: unknown, context: Record<string, unknown>) => void;

interface Drivers extends Required<Pick<ServiceOptions, 'kvStore' | 'eventBroadcaster' | 'workerPool'>> {
  /** By their ids. */
  readonly storages: ReadonlyMap<string, DataStore>;
  readonly queue: JobQueue;
  readonly onError: OnError;
}

interface Services {
  readonly uploads: Uploads;
  readonly engine: Engine;
  readonly follow: Follow;
}

/** The id of the storage that need not be named. */
const defaultStorage = 'default';

const openDrivers = (options: ServiceOptions): Drivers => ({
  storages: new Map([...Object.entries(options.storages ?? {}), [defaultStorage, options.dataStore]]),
  kvStore: options.kvStore,
  queue: options.kvStore.queue(),
  eventBroadcaster: options.eventBroadcaster ?? localEvents(),
  workerPool: options.workerPool ?? defaultPool(options.plugins),
  onError: options.onError ?? (() => {}),
});

const defaultPool = (plugins: ServiceOptions['plugins'] = []): WorkerPool =>
  workerPool({ size: availableParallelism(), memoryLimit: 2 * 2 ** 30, plugins });

const limitsOf = (options: ServiceOptions): ServiceLimits => ({ ...defaultLimits, ...options.limits });

/** What jobs are made of. */
interface Definitions {
  readonly kinds: NodeKinds;
  readonly flows: () => ServiceOptions['flows'];
}

const composeServices = (options: ServiceOptions, drivers: Drivers, definitions: Definitions): Services => {
  const limits = limitsOf(options);
  const { kvStore, eventBroadcaster, storages, onError } = drivers;
  const storage = (storageId: string): DataStore => {
    const store = storages.get(storageId);
    if (store !== undefined) return store;
    throw new ServiceError('STORAGE_NOT_FOUND', `There is no storage "${storageId}"`);
  };
  const publish = createPublish({ kvStore, eventBroadcaster, clock, onNotifyError: (error) => onError(error, {}) });
  const uploads: Uploads = createUploads({
    kvStore,
    publish,
    clock,
    storage,
    tellJob: ({ flow }) => (flow === undefined ? Promise.resolve() : engine.wake(flow.jobId)),
    maxUploadSize: limits.maxUploadSize,
    pace: { idleMs: limits.uploadIdleTimeout, minRate: limits.uploadMinRate },
    uploadTtl: limits.uploadTtl,
    quota: { openUploads: limits.quotaOpenUploads, storedBytes: limits.quotaStoredBytes },
    onError: (error) => onError(error, { part: 'uploads' }),
  });
  const engine: Engine = createEngine({
    ...drivers,
    publish,
    clock,
    ...definitions,
    uploads,
    append: uploads.append,
    storage,
    scratch: { directory: join(options.scratchDirectory ?? tmpdir(), 'sluice-jobs'), max: limits.scratchMax },
    limits: { maxPixels: limits.maxImagePixels, maxSide },
    defaults: { timeout: limits.flowTimeout, retries: limits.flowRetries },
    retention: { retry: limits.retryTtl, pause: limits.pauseTtl, result: limits.resultTtl },
    // One second, doubling to a minute, with full jitter (DESIGN 4).
    retryDelay: (attempt) => Math.random() * Math.min(60_000, 1000 * 2 ** (attempt - 1)),
  });
  return { uploads, engine, follow: createFollow({ kvStore, eventBroadcaster }) };
};

/**
 * Takes up what a crash cut off, now and every few seconds; the function it gives ends that. A store that does not
 * answer now is no reason not to start: readiness tells of it, and the next look comes as the first one would have.
 */
const startRecovery = async ({ uploads, engine }: Services, drivers: Drivers): Promise<() => void> => {
  const { storages, onError } = drivers;
  let ahead = recoverAheadMs;
  const recover = async (): Promise<void> => {
    try {
      const until = clock.now() + ahead;
      await Promise.all([uploads.recover(until), engine.recover(until)]);
      ahead = 0;
    } catch (error) {
      onError(error, { part: 'recovery' });
    }
  };
  await recover();
  const timer = setInterval(() => void recover(), recoverMs);
  const sweeper = setInterval(() => {
    for (const store of storages.values()) {
      uploads.sweep(store).catch((error) => onError(error, { part: 'sweep' }));
    }
  }, sweepMs);
  return () => [timer, sweeper].forEach(clearInterval);
};

const deliveryOf = ({ mode = 'proxy', secret, ttl = 3_600_000 }: FileOptions = {}): FileDelivery => ({
  ...(mode === 'redirect' ? { redirectFor: Math.ceil(ttl / 1000) } : {}),
  ...(secret === undefined ? {} : { signed: createSignedFiles({ secret, ttl, clock }) }),
});

/** What readiness asks of the storages: `dataStore`, and `dataStore.<id>` for each further one. */
const probesOf = (storages: Drivers['storages']): Probes =>
  Object.fromEntries(
    [...storages].map(([id, store]) => [id === defaultStorage ? 'dataStore' : `dataStore.${id}`, () => store.ping()]),
  );

const requireOptions = (options: ServiceOptions): void => {
  for (const name of ['dataStore', 'kvStore', 'flows', 'adapter'] as const) {
    if (typeof options?.[name] !== 'object' || options[name] === null) {
      throw new TypeError(`createService needs the option "${name}"`);
    }
  }
  if (options.storages !== undefined && defaultStorage in options.storages) {
    throw new TypeError(`The storage "${defaultStorage}" is the option "dataStore", and none of "storages"`);
  }
};

const requireFlows = (flows: ServiceOptions['flows'], kinds: NodeKinds): void => {
  for (const [key, flow] of Object.entries(flows)) {
    if (flow.flowId !== key) throw new TypeError(`The flow under "${key}" has the id "${flow.flowId}"`);
    checkFlow(flow, kinds);
  }
};
