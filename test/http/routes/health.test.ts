import t, { type Test } from 'tap';
import type { WorkerPool } from '../../../src/ports/worker-pool.ts';
import { call } from '../../support/api.ts';
import { type InProcessOptions, serviceInProcess } from '../../support/service-in-process.ts';
import { gate } from '../../support/wait.ts';

const start = async (t: Test, options: InProcessOptions = {}) => {
  const service = await serviceInProcess(options);
  t.teardown(() => service.close());
  return service;
};

t.test('readiness asks every component, liveness none', async (t) => {
  const asked: string[] = [];
  const { url } = await start(t, {
    wrapData: (store) => ({ ...store, ping: async () => void asked.push('dataStore') }),
    wrapRecords: (store) => ({ ...store, ping: async () => void asked.push('kvStore') }),
  });
  for (const path of ['/api/health', '/health', '/healthz']) await call(url, 'GET', path);
  t.strictSame(asked, []);
  await call(url, 'GET', '/api/ready');
  t.strictSame(asked, ['dataStore', 'kvStore']);
});

t.test('a component that fails makes the service unready, and says why', async (t) => {
  let broken = true;
  const { url } = await start(t, {
    wrapData: (store) => ({
      ...store,
      ping: () => (broken ? Promise.reject(new Error('the disk is gone')) : store.ping()),
    }),
  });
  const { status, body } = await call(url, 'GET', '/readyz');
  t.equal(status, 503);
  t.match(body, {
    status: 'unhealthy',
    components: {
      dataStore: { status: 'unhealthy', message: 'the disk is gone', latency: Number },
      kvStore: { status: 'healthy' },
    },
  });
  t.equal((await call(url, 'GET', '/healthz')).status, 200, 'it is alive all the same');
  broken = false;
  const began = performance.now();
  let again = await call(url, 'GET', '/readyz');
  while (again.status === 503 && performance.now() - began < 10_000) again = await call(url, 'GET', '/readyz');
  t.equal(again.status, 200, 'and ready again when the component is well');
});

t.test('a component that does not answer makes the service unready too', async (t) => {
  const { passed, open } = gate();
  t.teardown(open);
  const { url } = await start(t, { wrapRecords: (store) => ({ ...store, ping: () => passed }) });
  const { status, body } = await call(url, 'GET', '/ready');
  t.equal(status, 503);
  t.match(body.components.kvStore, { status: 'unhealthy', message: 'no answer in time' });
});

t.test('a crowd of probes is one round trip', async (t) => {
  let asked = 0;
  const ping = async () => {
    asked += 1;
  };
  const { url } = await start(t, { wrapData: (store) => ({ ...store, ping }) });
  const all = await Promise.all(Array.from({ length: 30 }, () => call(url, 'GET', '/api/ready')));
  t.ok(all.every(({ status }) => status === 200));
  t.ok(asked >= 1 && asked <= 3, `${asked}`);
});

t.test('a service that drains is not ready', async (t) => {
  const { passed, open } = gate();
  const workerPool: WorkerPool = { size: 0, run: () => Promise.reject(new Error('none')), close: () => passed };
  const service = await start(t, { workerPool });
  t.equal((await call(service.url, 'GET', '/ready')).status, 200);
  const closed = service.service.dispose();
  const { status, body } = await call(service.url, 'GET', '/ready');
  t.equal(status, 503);
  t.match(body, { status: 'unhealthy', components: { kvStore: { status: 'healthy' } } });
  t.equal((await call(service.url, 'GET', '/healthz')).status, 200);
  open();
  await closed;
});
