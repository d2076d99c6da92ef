/** What clients hear when Redis does not answer: at every route, and from the probes. */
import t from 'tap';
import { findRedis, startRedis } from '../services/redis.ts';
import { type Answer, call } from '../support/api.ts';
import { openEvents } from '../support/event-socket.ts';
import { skip } from '../support/redis.ts';
import { runToExit, startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

/** They answer without Redis. */
const independent =
  /^(?:get|head) \/sluice\/(?:(?:api\/)?(?:health|healthz|ready|readyz)|api\/upload\/capabilities|api\/flow(?:\/\{flowId\})?)$/;

/** What a request of each sort carries. */
const bodies: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  'post /sluice/api/upload': { type: 'application/json', body: '{"size":3}' },
  'patch /sluice/api/upload/{uploadId}': { type: 'application/offset+octet-stream', body: 'abc' },
};
const empty = { type: 'application/json', body: '{}' };

t.test('every route that needs Redis answers 503 with Retry-After while it is silent', { skip }, async (t) => {
  const server = await startRedis(findRedis() ?? '');
  t.teardown(server.stop);
  const settings = { DATA_DIR: await temporaryDirectory(t), REDIS_URL: server.url, WORKERS: '0' };
  const service = await startService({ ...settings, LOG_LEVEL: 'silent' });
  t.teardown(() => service.stop());
  const { body: api } = await call(service.url, 'GET', '/api/openapi.json');
  const { id } = await uploadClient(service.url).create({ size: 3 });
  const fill = (path: string) =>
    path
      .replace('{flowId}', 'two-sizes')
      .replace('{storageId}', 'default')
      .replace('{nodeId}', 'photo')
      .replaceAll(/\{\w+\}/g, id);
  const ask = async (route: string) => {
    const [method = '', path = ''] = route.split(' ');
    const { type, body } = bodies[route] ?? empty;
    const sent = /^(?:post|patch)$/.test(method)
      ? { headers: { 'content-type': type, 'upload-offset': '0' }, body }
      : {};
    const signal = AbortSignal.timeout(10_000);
    return fetch(new URL(fill(path), service.url), { method: method.toUpperCase(), ...sent, signal });
  };
  const routes = Object.entries<object>(api.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const dependent = routes.filter((route) => !independent.test(route));
  t.ok(dependent.length >= 15, `${dependent.length}`);

  server.process.kill('SIGSTOP');
  const socket = openEvents(service.url, `/ws/upload/${id}`);
  await Promise.all(
    dependent.map(async (route) => {
      const response = await ask(route);
      t.equal(response.status, 503, route);
      t.ok(Number(response.headers.get('retry-after')) >= 1, `${route} says when to come again`);
      if (!route.startsWith('head')) t.match(await response.json(), { code: 'UNAVAILABLE' }, route);
    }),
  );
  t.not((await socket.closed).code, 4004, 'a socket is not told that its id is unknown');
  t.equal((await call(service.url, 'GET', '/api/health')).status, 200, 'the process is alive');
  const { status, body } = await call(service.url, 'GET', '/api/ready');
  t.equal(status, 503);
  const state = (name: string): Answer => body.components[name];
  t.equal(state('dataStore').status, 'healthy');
  for (const name of ['kvStore', 'jobQueue', 'eventBroadcaster']) {
    t.equal(state(name).status, 'unhealthy', name);
    t.match(state(name).message, /\w/, name);
  }
  server.process.kill('SIGCONT');
  await until(async () => (await call(service.url, 'GET', '/api/ready')).status === 200);
  t.equal(await uploadClient(service.url).offset(id), 0, 'it goes on without a restart');
});

t.test('a start without Redis, or over a cluster, ends with code 1 and says why', { skip }, async (t) => {
  const server = await startRedis(findRedis() ?? '', { options: ['--cluster-enabled', 'yes'] });
  t.teardown(server.stop);
  const directory = await temporaryDirectory(t);
  const start = (url: string) => runToExit({ DATA_DIR: directory, REDIS_URL: url, WORKERS: '0' });
  const [cluster, away] = await Promise.all([start(server.url), start('redis://127.0.0.1:1')]);
  t.equal(cluster.code, 1);
  t.match(cluster.output, /REDIS_URL names a Redis Cluster/);
  t.equal(away.code, 1);
  t.match(away.output, /Redis at 127\.0\.0\.1:1 cannot be reached or entered/);
  for (const { output } of [cluster, away]) t.notMatch(output, /\bat .*\.ts:\d+/, 'without a stack');
});
