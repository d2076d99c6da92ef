/** The process: configuration, service, listening socket, signals, exit codes. */
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { type Config, ConfigError, loadConfig, loadEnvFile } from './config/load.ts';
import { loadStorages } from './config/storages.ts';
import { systemClock } from './drivers/clock.ts';
import { openStorages, type Storage } from './drivers/data/open.ts';
import { sqliteKvStore } from './drivers/kv/sqlite/index.ts';
import type { RedisAddress } from './drivers/redis.ts';
import type { Replica } from './drivers/replicas/redis/index.ts';
import { StartError } from './drivers/start-error.ts';
import { FlowLoadError } from './engine/load/flow-problem.ts';
import { loadFlows } from './engine/load/load-flows.ts';
import { createReloadFlows } from './engine/load/reload-flows.ts';
import { watchFlows } from './engine/load/watch-flows.ts';
import { fastifyAdapter } from './http/server.ts';
import { kinds as builtIn } from './nodes/index.ts';
import { loadKinds, PluginError } from './nodes/plugins/load-kinds.ts';
import type { NodeKinds } from './ports/node.ts';
import { createService, type Service, type ServiceOptions } from './service.ts';
import { createLog } from './telemetry/log.ts';
import { version } from './version.ts';
import { workerPool } from './workers/index.ts';

type Log = ReturnType<typeof createLog>;

/** Idle connections and slow headers, milliseconds; a body has no limit of its own but the idle timer. */
const timeouts = { keepAliveTimeout: 72_000, headersTimeout: 30_000, requestTimeout: 0 };

/** An upgrade to anything else (`h2c`, as some clients offer) is ignored, and the request answered as it is. */
const shouldUpgradeCallback = ({ headers }: IncomingMessage): boolean => /^websocket$/i.test(headers.upgrade ?? '');

const start = async (config: Config): Promise<void> => {
  const settings = loadStorages(config);
  const log = createLog(config.logLevel);
  const { plugins } = config;
  const kinds = await loadKinds(builtIn, plugins);
  const { load, reloadInto } = followFlows(config, kinds, log);
  const flows = await load();
  const { default: dataStore, ...storages } = await openStorages(settings, config);
  const stores = await openStores(config, log);
  const place = await takePlace(config, settings, log);
  warnOfIdleness(config, log);
  const service = await createService({
    dataStore,
    storages,
    ...stores,
    flows,
    plugins,
    adapter: fastifyAdapter({ log, console: config.console, docs: config.docs }),
    baseUrl: `${config.publicUrl ?? ''}/${config.basePath}`,
    workerPool: workerPool({
      size: config.workers,
      memoryLimit: config.workerMemory,
      plugins,
      onError: (error) => log.warn({ err: error }, 'a worker ended; another takes its place'),
    }),
    scratchDirectory: place.scratchDirectory,
    files: { mode: config.filesMode, secret: config.filesUrlSecret, ttl: config.filesUrlTtl },
    limits: config,
    onError: (error, context) => log.error({ err: error, ...context }, 'failed in the background'),
  });
  reloadInto(service);
  const server = await listen(service, config);
  onSignals(server, service, place, config);
  const shared =
    config.redisUrl === undefined ? 'records: sqlite, events: in process' : 'records: redis, events: redis';
  const drivers = `data: ${dataStore.type}, ${shared}, workers: ${config.workers}`;
  const address = `${addressOf(server, config)}/${config.basePath.replace(/^\/+|\/+$/g, '')}`;
  process.stdout.write(
    `Sluice ${version} on ${address} | flows: ${Object.keys(flows).join(', ') || 'none'} | ${drivers}\n`,
  );
};

/** Where records live and events go: in this process, or at the Redis that all replicas share. */
const openStores = async (config: Config, log: Log): Promise<Pick<ServiceOptions, 'kvStore' | 'eventBroadcaster'>> => {
  const { dataDirectory, durability, redisUrl } = config;
  if (redisUrl === undefined) {
    return { kvStore: sqliteKvStore({ path: join(dataDirectory, 'sluice.db'), durability, clock: systemClock }) };
  }
  // Loaded only where they are used: they are as large as all the rest.
  const { redisKvStore } = await import('./drivers/kv/redis/index.ts');
  const { redisEvents } = await import('./drivers/events/redis/index.ts');
  const address = redisAddress(config, redisUrl, (error) => log.warn({ err: error }, 'Redis has failed'));
  const kvStore = await redisKvStore({
    ...address,
    onWarning: (text) => log.warn(text),
    onDebug: (text) => log.debug(text),
  });
  return { kvStore, eventBroadcaster: redisEvents(address) };
};

/** What this replica has to itself. */
interface Place {
  readonly scratchDirectory: string;
  /** Gives it back. */
  leave(): Promise<void>;
}

/** Over Redis, a place among the replicas that have the same files. The database of a single process is its own lock. */
const takePlace = async (config: Config, storages: Readonly<Record<string, Storage>>, log: Log): Promise<Place> => {
  const { dataDirectory, dataDirectoryShared: shared, redisUrl } = config;
  const root = config.scratchDirectory ?? join(dataDirectory, 'scratch');
  if (redisUrl === undefined) return { scratchDirectory: root, leave: async () => {} };
  const { joinReplicas } = await import('./drivers/replicas/redis/index.ts');
  const { claimScratch } = await import('./drivers/replicas/scratch.ts');
  const { describeStorages } = await import('./drivers/data/describe.ts');
  const { id: files, isRemote } = await describeStorages(storages);
  const address = redisAddress(config, redisUrl, () => {});
  const onRefused = (error: StartError) => {
    log.fatal(error.message);
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM');
  };
  const replica: Replica = await joinReplicas({ ...address, files, shared: isRemote || shared, onRefused });
  const scratchDirectory = await claimScratch(root, files, replica);
  const leave = async () => {
    await rm(scratchDirectory, { recursive: true, force: true });
    await replica.leave();
  };
  return { scratchDirectory, leave };
};

const warnOfIdleness = ({ workers, redisUrl }: Config, log: Log): void => {
  if (workers > 0 || redisUrl !== undefined) return;
  log.warn('WORKERS=0 and no REDIS_URL: flows can be started, but nobody runs their jobs');
};

const redisAddress = (config: Config, url: string, onError: (error: unknown) => void): RedisAddress => ({
  url,
  prefix: config.redisKeyPrefix,
  username: config.redisUsername,
  password: config.redisPassword,
  tls: Object.fromEntries(
    Object.entries({ ca: config.redisTlsCa, cert: config.redisTlsCert, key: config.redisTlsKey }).filter(
      ([, value]) => value !== undefined,
    ),
  ),
  sentinels: config.redisSentinels,
  sentinelName: config.redisSentinelName,
  sentinelPassword: config.redisSentinelPassword,
  onError,
});

/** Loads the flows: for the start, and into the service on every change and on SIGHUP. */
const followFlows = (config: Config, kinds: NodeKinds, log: Log) => {
  const directory = resolve(config.flowsDirectory);
  const load = () => loadFlows({ directory, kinds, onError: config.flowsOnError, log });
  const { promise: service, resolve: reloadInto } = Promise.withResolvers<Service>();
  const reload = createReloadFlows({ load, replace: async (flows) => (await service).replaceFlows(flows), log });
  // From before the first load on, so that no change falls between the two.
  const { look } = watchFlows({
    directory,
    onChange: () => void reload(),
    onError: (error) => log.warn({ err: error }, 'The flows directory is not watched'),
  });
  process.on('SIGHUP', look);
  return { load, reloadInto };
};

const listen = async (service: Service, config: Config): Promise<Server> => {
  const server = createServer({ ...timeouts, shouldUpgradeCallback }, service.handler);
  server.on('checkContinue', service.handler);
  server.on('upgrade', service.websocketHandler);
  const { promise, resolve: listening, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(config.port, config.host, listening);
  await promise;
  return server;
};

const addressOf = (server: Server, config: Config): string => {
  const { port, address, family } = server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return config.publicUrl ?? `http://${host}:${port}`;
};

/** The first signal drains, the second one ends the process at once; so does a drain that takes too long. */
const onSignals = (server: Server, service: Service, place: Place, config: Config): void => {
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), config.shutdownTimeout).unref();
    shutDown(server, service, place).then(
      () => process.exit(),
      (error: unknown) => exitWith(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
};

const shutDown = async (server: Server, service: Service, place: Place): Promise<void> => {
  await service.dispose();
  await place.leave();
  const { promise, resolve: closed } = Promise.withResolvers<void>();
  server.close(() => closed());
  server.closeAllConnections();
  await promise;
};

const exitWith = (error: unknown): never => {
  const expected = [ConfigError, FlowLoadError, PluginError, StartError].some((kind) => error instanceof kind);
  const text = error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
};

try {
  loadEnvFile();
  await start(loadConfig());
} catch (error) {
  exitWith(error);
}
