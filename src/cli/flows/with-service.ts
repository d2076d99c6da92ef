/** The service without HTTP, on the embedded drivers, in a directory that is gone afterwards. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config/load.ts';
import type { FlowDefinition } from '../../domain/flow.ts';
import { systemClock as clock } from '../../drivers/clock.ts';
import { localDataStore } from '../../drivers/data/local/index.ts';
import { sqliteKvStore } from '../../drivers/kv/sqlite/index.ts';
import type { Adapter, HttpServices } from '../../http/context.ts';
import { createService, type Service } from '../../service.ts';
import { workerPool } from '../../workers/index.ts';

/** Runs the work beside a service that has this one flow, with the limits of the configuration. */
export const withService = async <Result>(
  flow: FlowDefinition,
  config: Config,
  work: (services: HttpServices) => Promise<Result>,
): Promise<Result> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-run-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  // However the process ends, short of a kill.
  process.once('exit', remove);
  try {
    const { service, services } = await start(directory, flow, config);
    return await work(services).finally(() => service.dispose());
  } finally {
    process.off('exit', remove);
    remove();
  }
};

const start = async (directory: string, flow: FlowDefinition, config: Config) => {
  const durability = 'process';
  const handed = Promise.withResolvers<HttpServices>();
  const service: Service = await createService({
    dataStore: await localDataStore({ directory: join(directory, 'files'), durability }),
    kvStore: sqliteKvStore({ path: join(directory, 'sluice.db'), durability, clock }),
    flows: { [flow.flowId]: flow },
    adapter: handOut(handed.resolve),
    plugins: config.plugins,
    workerPool: workerPool({
      size: config.workers || availableParallelism(),
      memoryLimit: config.workerMemory,
      plugins: config.plugins,
    }),
    scratchDirectory: join(directory, 'scratch'),
    // The files are the user's own and lie on this machine already: only what nodes do is limited.
    limits: {
      flowTimeout: config.flowTimeout,
      flowRetries: config.flowRetries,
      maxImagePixels: config.maxImagePixels,
      maxUploadSize: Number.MAX_SAFE_INTEGER,
      uploadMinRate: 0,
    },
    onError: (error) => process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`),
  });
  return { service, services: await handed.promise };
};

/** An adapter that connects the service to its caller instead of the web. */
const handOut = (take: (services: HttpServices) => void): Adapter => ({
  name: 'none',
  async create(services) {
    take(services);
    return { handler() {}, websocketHandler() {}, async close() {} };
  },
});
