/** The service in the process of the test, on a port of its own: its parts can be exchanged, and no child is started. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { systemClock } from '../../src/drivers/clock.ts';
import { localDataStore } from '../../src/drivers/data/local/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { type FastifyAdapterOptions, fastifyAdapter } from '../../src/http/server.ts';
import type { DataStore } from '../../src/ports/data-store.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { createService, type Service, type ServiceOptions } from '../../src/service.ts';
import { workerPool } from '../../src/workers/index.ts';

export interface InProcessOptions
  extends Partial<Omit<ServiceOptions, 'dataStore' | 'kvStore' | 'adapter'>>,
    Omit<FastifyAdapterOptions, 'log'> {
  /** Puts something in front of a store. */
  readonly wrapData?: (store: DataStore) => DataStore;
  readonly wrapRecords?: (store: KvStore) => KvStore;
}

export interface InProcessService {
  /** Such as `http://127.0.0.1:40123/sluice`. */
  readonly url: string;
  readonly service: Service;
  readonly directory: string;
  /** What has failed where no request waited for an answer. */
  readonly errors: unknown[];
  /** The lines of the log. */
  readonly log: LogLine[];
  /** Ends the service and removes what it kept; safe to repeat. */
  close(): Promise<void>;
}

export type LogLine = { readonly level: number; readonly msg: string } & Readonly<Record<string, unknown>>;

/** Starts the service as `main.ts` does, without flows and workers unless they are given. */
export const serviceInProcess = async (options: InProcessOptions = {}): Promise<InProcessService> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-service-'));
  try {
    return await startIn(directory, options);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
};

const startIn = async (directory: string, options: InProcessOptions): Promise<InProcessService> => {
  const { wrapData, wrapRecords, console, docs, ...rest } = options;
  const errors: unknown[] = [];
  const log: LogLine[] = [];
  const dataStore = await localDataStore({ directory: join(directory, 'files'), durability: 'process' });
  const kvStore = sqliteKvStore({ path: join(directory, 'sluice.db'), durability: 'process', clock: systemClock });
  const service = await createService({
    dataStore: wrapData?.(dataStore) ?? dataStore,
    kvStore: wrapRecords?.(kvStore) ?? kvStore,
    flows: {},
    adapter: fastifyAdapter({
      log: logInto(log),
      ...(console === undefined ? {} : { console }),
      ...(docs === undefined ? {} : { docs }),
    }),
    workerPool: workerPool({ size: 0, memoryLimit: 0 }),
    scratchDirectory: join(directory, 'scratch'),
    onError: (error) => errors.push(error),
    ...rest,
  });
  const server = await listen(service);
  const base = /^(?:https?:\/\/[^/]+)?(.*)$/.exec(options.baseUrl ?? '/sluice')?.[1] ?? '';
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= stop(service, server, directory);
    return closed;
  };
  return { url, service, directory, errors, log, close };
};

const logInto = (lines: LogLine[]) =>
  pino(
    { level: 'debug', base: null },
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    }),
  );

const listen = async (service: Service): Promise<Server> => {
  const server = createServer(service.handler);
  server.on('checkContinue', service.handler);
  server.on('upgrade', service.websocketHandler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const stop = async (service: Service, server: Server, directory: string): Promise<void> => {
  await service.dispose();
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await rm(directory, { recursive: true, force: true });
};
