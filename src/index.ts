/**
 * What flow files and host applications import as `sluice`. Flow files are evaluated often, each in a process of its
 * own, so nothing heavy is loaded here before it is called.
 */
import type { FlowDefinition } from './domain/flow.ts';
import type { LocalDataStoreOptions } from './drivers/data/local/index.ts';
import type { SqliteKvStoreOptions } from './drivers/kv/sqlite/index.ts';
import type { Adapter } from './http/context.ts';
import type { FastifyAdapterOptions } from './http/server.ts';
import type { DataStore } from './ports/data-store.ts';
import type { KvStore } from './ports/kv-store.ts';
import type { Service, ServiceOptions } from './service.ts';

export { defineFlow, type Flow, type FlowOutputs } from './domain/define-flow.ts';
export type { FlowDefinition, FlowEdge, FlowInputLimits, FlowNode, NodeSettings } from './domain/flow.ts';
export type { ParamSchema, Params, ParamsSchema } from './domain/params.ts';
export {
  blurNode,
  conditionalNode,
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
export { defineNode, type NodeDescription, type NodeKind, type NodeKinds } from './ports/node.ts';
export type { Adapter, DataStore, FastifyAdapterOptions, KvStore, Service, ServiceOptions };

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

/** Keeps records and the job queue in an SQLite file that one process owns. */
export const sqliteKvStore = async (options: Omit<SqliteKvStoreOptions, 'clock'>): Promise<KvStore> => {
  const [{ sqliteKvStore: open }, { systemClock: clock }] = await Promise.all([
    import('./drivers/kv/sqlite/index.ts'),
    import('./drivers/clock.ts'),
  ]);
  return open({ ...options, clock });
};

/** The flows of a directory by their ids; rejects with every problem of every file. */
export const loadFlows = async (directory: string): Promise<Record<string, FlowDefinition>> => {
  const [engine, { kinds }] = await Promise.all([import('./engine/load/load-flows.ts'), import('./nodes/index.ts')]);
  return engine.loadFlows({ directory, kinds, onError: 'fail' });
};
