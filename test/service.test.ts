import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import type { HttpServices } from '../src/http/context.ts';
import {
  type Adapter,
  createService,
  type DataStore,
  defineFlow,
  fastifyAdapter,
  inputNode,
  localDataStore,
  redisEvents,
  redisKvStore,
  resizeNode,
  type ServiceOptions,
  sqliteKvStore,
} from '../src/index.ts';
import { call } from './support/api.ts';
import { openEvents } from './support/event-socket.ts';
import { flipPlugin, writePlugin } from './support/plugin.ts';
import { clean, freshAddress, skip } from './support/redis.ts';
import { temporaryDirectory } from './support/temporary.ts';
import { uploadClient } from './support/upload-client.ts';
import { until } from './support/wait.ts';

const flow = defineFlow({
  flowId: 'small',
  name: 'Small',
  nodes: [inputNode('photo'), resizeNode('small', { width: 10 })],
  edges: [{ source: 'photo', target: 'small' }],
});

const optionsIn = async (t: Test): Promise<ServiceOptions> => {
  const directory = await temporaryDirectory(t);
  return {
    dataStore: await localDataStore({ directory: join(directory, 'files'), durability: 'process' }),
    kvStore: await sqliteKvStore({ path: join(directory, 'kv.db'), durability: 'process' }),
    flows: { small: flow },
    adapter: fastifyAdapter(),
  };
};

t.test('a missing option is named', async (t) => {
  const options = await optionsIn(t);
  t.teardown(() => options.kvStore.close());
  for (const name of ['dataStore', 'kvStore', 'flows', 'adapter'] as const) {
    const { [name]: _, ...rest } = options;
    await t.rejects(createService(rest as ServiceOptions), { name: 'TypeError', message: new RegExp(`"${name}"`) });
  }
  await t.rejects(createService({ ...options, flows: { other: flow } }), { message: /"other".*"small"/ });
  const twice = { ...options, storages: { default: options.dataStore } };
  await t.rejects(createService(twice), { name: 'TypeError', message: /"default"/ });
  const broken = { ...flow, edges: [{ source: 'photo', target: 'nowhere' }] };
  await t.rejects(createService({ ...options, flows: { small: broken } }), { message: /nowhere/ });
});

t.test('every storage is swept once an hour, and closed with the service', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const [options, { dataStore: other }] = [await optionsIn(t), await optionsIn(t)];
  const seen: string[] = [];
  const watched = (id: string, store: DataStore): DataStore => ({
    ...store,
    sweep: async () => void seen.push(`swept ${id}`),
    close: async () => void seen.push(`closed ${id}`),
  });
  const storages = { other: watched('other', other) };
  const service = await createService({ ...options, dataStore: watched('default', options.dataStore), storages });
  mock.timers.tick(3_599_999);
  t.strictSame(seen, []);
  mock.timers.tick(1);
  await until(() => seen.length === 2);
  await service.dispose();
  t.strictSame(seen.toSorted(), ['closed default', 'closed other', 'swept default', 'swept other']);
});

t.test('plugins bring kinds of the host, and what is wrong with one is told', async (t) => {
  const plugins = [await writePlugin(t, flipPlugin)];
  const nodes = { text: { type: 'file-input' }, flipped: { type: 'flip-text' } };
  const flip = { flowId: 'flip', name: 'Flip', nodes, edges: [{ source: 'text', target: 'flipped' }] };
  const options = { ...(await optionsIn(t)), flows: { flip } };
  await t.rejects(createService(options), { message: /unknown type "flip-text"/ });
  const missing = createService({ ...options, plugins: ['./none.ts'] });
  await t.rejects(missing, { message: /^plugin ".\/none.ts": cannot be loaded/ });
  const service = await createService({ ...options, plugins });
  service.replaceFlows({ flip: { ...flip, name: 'Flip again' } });
  await service.dispose();
});

t.test('it starts although its store does not answer yet', async (t) => {
  const options = await optionsIn(t);
  const { kvStore } = options;
  const failed: unknown[] = [];
  const due: typeof kvStore.due = () => Promise.reject(new Error('not yet'));
  const slow = new Proxy(kvStore, { get: (target, name) => (name === 'due' ? due : Reflect.get(target, name)) });
  const onError = (error: unknown, context: object) => failed.push({ message: (error as Error).message, ...context });
  const service = await createService({ ...options, kvStore: slow, onError });
  t.strictSame(failed, [{ message: 'not yet', part: 'recovery' }]);
  await service.dispose();
});

t.test('a host mounts it in its own server, under its own path', async (t) => {
  const service = await createService({ ...(await optionsIn(t)), baseUrl: 'https://files.example.org/media' });
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/media/')) service.handler(request, response);
    else response.end('the host itself');
  });
  server.on('upgrade', service.websocketHandler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    await service.dispose();
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.equal(await (await fetch(`${url}/`)).text(), 'the host itself');
  t.match((await call(`${url}/media`, 'GET', '/api/flow')).body, { flows: [{ flowId: 'small', name: 'Small' }] });
  const created = await call(`${url}/media`, 'POST', '/api/upload', { size: 0 });
  t.equal(created.headers.get('location'), `https://files.example.org/media/api/upload/${created.body.id}`);
  t.equal(created.body.url, `https://files.example.org/media/api/files/${created.body.id}`);
});

t.test('replaced flows are all there or none', async (t) => {
  const handlers = Promise.withResolvers<HttpServices>();
  const adapter: Adapter = {
    name: 'none',
    async create(services) {
      handlers.resolve(services);
      return { handler() {}, websocketHandler() {}, async close() {} };
    },
  };
  const service = await createService({ ...(await optionsIn(t)), adapter });
  t.teardown(() => service.dispose());
  const { engine } = await handlers.promise;
  const other = { ...flow, flowId: 'other' };
  const broken = { ...flow, edges: [{ source: 'photo', target: 'nowhere' }] };
  t.throws(() => service.replaceFlows({ other, small: broken }), { message: /nowhere/ });
  t.throws(() => service.replaceFlows({ wrong: other }), { message: /"wrong".*"other"/ });
  t.same(engine.listFlows(), [flow]);
  service.replaceFlows({ other });
  t.same(engine.listFlows(), [other]);
  t.throws(() => engine.getFlow('small'), { code: 'FLOW_NOT_FOUND' });
});

t.test('hosts share records and events at one Redis', { skip }, async (t) => {
  const address = freshAddress();
  t.teardown(() => clean(address));
  const directory = await temporaryDirectory(t);
  const open = async (): Promise<string> => {
    const service = await createService({
      dataStore: await localDataStore({ directory, durability: 'process' }),
      kvStore: await redisKvStore(address),
      eventBroadcaster: await redisEvents(address),
      flows: {},
      adapter: fastifyAdapter(),
      workerPool: { size: 0, run: () => Promise.reject(new Error('nobody works here')), close: async () => {} },
    });
    const server = createServer(service.handler);
    server.on('upgrade', service.websocketHandler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(async () => {
      await service.dispose();
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sluice`;
  };
  const [one, other] = [uploadClient(await open()), await open()];
  const { id } = await one.create({ size: 5 });
  const events = openEvents(other, `/ws/upload/${id}`);
  await events.until('upload_started');
  await one.patch(id, 'hello', { offset: 0 });
  await events.until('upload_complete');
  t.equal(String(await uploadClient(other).download(id)), 'hello');
});
