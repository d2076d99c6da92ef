/**
 * The service with drivers that end it by `kill -9` at a point of a node's way into the record, on its first life:
 *
 *   node killing-service.ts <directory> <point> <before|after>
 *
 * `publish`: the file of `work` goes into the data store. `checkpoint`: the record says that it is done. `event`: whoever
 * watches is told so. `wake`: the job is put into the queue since its upload is complete. Without a point it only serves. Prints its address, and the flow that it starts is `f`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/drivers/clock.ts';
import { localDataStore } from '../../src/drivers/data/local/index.ts';
import { localEvents } from '../../src/drivers/events/local/index.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { fastifyAdapter } from '../../src/http/server.ts';
import { createService } from '../../src/service.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { workerPool } from '../../src/workers/index.ts';
import { edgesOf, flowOf } from '../support/step-flows.ts';

const [directory = '', point = '', side = ''] = process.argv.slice(2);

/** Nothing of this process comes after it. */
const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return delay(60_000).then(() => Promise.reject(new Error('It lives')));
};

/** The work, with the kill on its side of it when this is the point. */
const at = async <T>(here: string, isIt: boolean, work: () => Promise<T>): Promise<T> => {
  const doomed = isIt && here === point;
  if (doomed && side === 'before') await die();
  const done = await work();
  if (doomed) await die();
  return done;
};

/** The driver with some calls of the test's own. */
const changed = <T extends object>(driver: T, change: Partial<T>): T =>
  new Proxy(driver, { get: (target, name) => Reflect.get(change, name) ?? Reflect.get(target, name) });

const files = await localDataStore({ directory: join(directory, 'files'), durability: 'full' });
const records = sqliteKvStore({ path: join(directory, 'kv.db'), durability: 'full', clock: systemClock });
const events = localEvents();

/** The end of `work` has been written, and not been told yet. */
let isDone = false;

const queue = changed(records.queue(), {
  enqueue: (entry, options) => at('wake', true, () => records.queue().enqueue(entry, options)),
});
const kvStore = changed(records, {
  queue: () => queue,
  commit: (change) => {
    const ends = change.events?.some((event) => event.type === 'node_completed' && event.nodeId === 'work') ?? false;
    return at('checkpoint', ends, async () => {
      const version = await records.commit(change);
      isDone ||= ends;
      return version;
    });
  },
});
const dataStore = changed(files, {
  publish: (key, path) => at('publish', key.includes('/work/'), () => files.publish(key, path)),
});
const eventBroadcaster = changed(events, {
  notify: (topic, id) => at('event', topic === 'jobs' && isDone, () => events.notify(topic, id)),
});

const flow = flowOf(
  {
    first: { type: 'resize', options: { width: 32 }, keepOutput: true },
    work: { type: 'resize', options: { width: 16 }, keepOutput: true },
    last: { type: 'optimize' },
  },
  edgesOf('in first', 'first work', 'work last'),
);
const service = await createService({
  ...{ dataStore, kvStore, eventBroadcaster, flows: { f: flow } },
  adapter: fastifyAdapter({ log: createLog('warn') }),
  workerPool: workerPool({ size: 1, memoryLimit: 2 ** 31 }),
  scratchDirectory: join(directory, 'scratch'),
});
const server = createServer(service.handler);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sluice\n`);
process.on('SIGTERM', () => void service.dispose().then(() => process.exit(0)));
