/**
 * What flow files and host applications import as `sluice`. Flow files are evaluated often, each in a process of its
 * own, so nothing heavy is loaded here before it is called.
 */
import type { FlowDefinition } from './domain/flow.ts';
import type { LocalDataStoreOptions } from './drivers/data/local/index.ts';
import type { S3DataStoreOptions } from './drivers/data/s3/index.ts';
import type { RedisKvStoreOptions } from './drivers/kv/redis/index.ts';
import type { SqliteKvStoreOptions } from './drivers/kv/sqlite/index.ts';
import type { RedisAddress } from './drivers/redis.ts';
import type { Adapter } from './http/context.ts';
import type { FastifyAdapterOptions } from './http/server.ts';
import type { DataStore } from './ports/data-store.ts';
import type { EventBroadcaster } from './ports/event-broadcaster.ts';
import type { KvStore } from './ports/kv-store.ts';
import type { Service, ServiceOptions } from './service.ts';

/** What the options of a kind are described with. */
export { type Static, Type } from 'typebox';
export { defineFlow, type Flow, type FlowOutputs } from './domain/define-flow.ts';
export { type ErrorCode, ServiceError } from './domain/errors.ts';
export type { FlowDefinition, FlowEdge, FlowInputLimits, FlowNode, NodeSettings } from './domain/flow.ts';
export type { ParamSchema, Params, ParamsSchema } from './domain/params.ts';
export {
  blurNode,
  conditionalNode,
  convertNode,
  cropNode,
  grayscaleNode,
  inputNode,
  mergeNode,
  optimizeNode,
  outputNode,
  resizeNode,
  rotateNode,
  watermarkNode,
} from './nodes/index.ts';
export {
  defineNode,
  type NodeDescription,
  type NodeFile,
  type NodeKind,
  type NodeKinds,
  type NodeOutput,
  type NodeRun,
} from './ports/node.ts';
export type { PassedFile, WorkerFile } from './ports/worker-pool.ts';
export type {
  Adapter,
  DataStore,
  EventBroadcaster,
  FastifyAdapterOptions,
  KvStore,
  RedisAddress,
  RedisKvStoreOptions,
  Service,
  ServiceOptions,
};

/** The service, to be mounted in a server of the host's: see `ServiceOptions` and `Service`. */
export const createService = async (options: ServiceOptions): Promise<Service> =>
  (await import('./service.ts')).createService(options);

/** Serves the service with Fastify. */
export const fastifyAdapter = (options: FastifyAdapterOptions = {}): Adapter => ({
  name: 'fastify',
  create: async (services) => (await import('./http/server.ts')).fastifyAdapter(options).create(services),
});

/** Keeps bytes in a directory. */
export const localDataStore = async (options: LocalDataStoreOptions): Promise<DataStore> =>
  (await import('./drivers/data/local/index.ts')).localDataStore(options);

/** Keeps bytes in a bucket of any S3 server. */
export const s3DataStore = async (options: Omit<S3DataStoreOptions, 'budget' | 'attempts'>): Promise<DataStore> =>
  (await import('./drivers/data/s3/index.ts')).s3DataStore(options);

/** Keeps records and the job queue in an SQLite file that one process owns. */
export const sqliteKvStore = async (options: Omit<SqliteKvStoreOptions, 'clock'>): Promise<KvStore> => {
  const [{ sqliteKvStore: open }, { systemClock: clock }] = await Promise.all([
    import('./drivers/kv/sqlite/index.ts'),
    import('./drivers/clock.ts'),
  ]);
  return open({ ...options, clock });
};

/** Keeps records and the job queue at a Redis, for any number of services that have the same files (docs/replicas.md). */
export const redisKvStore = async (options: RedisKvStoreOptions): Promise<KvStore> =>
  (await import('./drivers/kv/redis/index.ts')).redisKvStore(options);

/** Wakes watchers on all services at a Redis: the `eventBroadcaster` that goes with `redisKvStore`. */
export const redisEvents = async (address: RedisAddress): Promise<EventBroadcaster> =>
  (await import('./drivers/events/redis/index.ts')).redisEvents(address);

/**
 * The flows of a directory by their ids; rejects with every problem of every file. `plugins` are those of the service.
 */
export const loadFlows = async (
  directory: string,
  { plugins = [] }: Pick<ServiceOptions, 'plugins'> = {},
): Promise<Record<string, FlowDefinition>> => {
  const [engine, { kinds }, { loadKinds }] = await Promise.all([
    import('./engine/load/load-flows.ts'),
    import('./nodes/index.ts'),
    import('./nodes/plugins/load-kinds.ts'),
  ]);
  return engine.loadFlows({ directory, kinds: await loadKinds(kinds, plugins), onError: 'fail' });
};
