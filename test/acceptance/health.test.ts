/** Liveness and readiness (WIRE 4). */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';

const directory = await temporaryDirectory(t);
const flows = await temporaryDirectory(t);
const service = await startService({ DATA_DIR: directory, FLOWS_DIR: flows, WORKERS: '0' });
t.teardown(() => service.stop());

interface HealthBody {
  readonly status: string;
  readonly timestamp: string;
  readonly version: string;
  readonly uptime: number;
  readonly components?: Readonly<Record<string, { readonly status: string; readonly latency: number }>>;
}

void t.test('liveness answers under all its names', async (t) => {
  for (const path of ['/api/health', '/health', '/healthz']) {
    const response = await fetch(`${service.url}${path}`);
    t.equal(response.status, 200, path);
    const body = (await response.json()) as HealthBody;
    t.equal(body.status, 'healthy');
    t.match(body.version, /^\d+\.\d+\.\d+$/);
    t.equal(new Date(body.timestamp).toISOString(), body.timestamp);
    t.ok(body.uptime > 0);
    t.notOk('components' in body, 'and touches no dependency');
    t.equal((await fetch(`${service.url}${path}`, { method: 'HEAD' })).status, 200, 'HEAD too, as some probes ask');
  }
});

void t.test('readiness answers under all its names, with a round trip to every component', async (t) => {
  for (const path of ['/api/ready', '/ready', '/readyz']) {
    const response = await fetch(`${service.url}${path}`);
    t.equal(response.status, 200, path);
    t.equal(response.headers.get('cache-control'), 'no-store');
    const body = (await response.json()) as HealthBody;
    t.equal(body.status, 'healthy');
    t.same(Object.keys(body.components ?? {}).sort(), ['dataStore', 'eventBroadcaster', 'jobQueue', 'kvStore']);
    for (const { status, latency } of Object.values(body.components ?? {})) {
      t.equal(status, 'healthy');
      t.ok(latency >= 0 && latency < 5000);
    }
    t.equal((await fetch(`${service.url}${path}`, { method: 'HEAD' })).status, 200);
  }
});

/** A watcher that says nothing, not even to the closing handshake: the service must wait for it a little. */
const stubborn = async (url: string, path: string) => {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, 'connect');
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
  socket.write(
    `GET ${pathname}${path} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`,
  );
  await once(socket, 'data');
  return socket.on('error', () => {});
};

void t.test('while the service drains it is alive and not ready, and still answers in its own words', async (t) => {
  const draining = await startService({ DATA_DIR: await temporaryDirectory(t), FLOWS_DIR: flows, WORKERS: '0' });
  const uploads = uploadClient(draining.url);
  const { id } = await uploads.create({ size: 5 });
  const watcher = await stubborn(draining.url, `/ws/upload/${id}`);
  const exit = draining.stop();
  await until(async () => (await fetch(`${draining.url}/api/ready`)).status === 503);
  const ready = (await (await fetch(`${draining.url}/api/ready`)).json()) as HealthBody;
  t.equal(ready.status, 'unhealthy');
  t.equal(ready.components?.['kvStore']?.status, 'healthy', 'although its components are well');
  const health = await fetch(`${draining.url}/api/health`);
  t.equal(health.status, 200);
  t.equal(health.headers.get('connection'), 'close');
  const refused = await uploads.patch(id, 'hello', { offset: 0 });
  t.equal(refused.status, 503);
  t.ok(Number(refused.headers.get('retry-after')) >= 1);
  const body = (await refused.json()) as ErrorBody;
  t.match(body, { code: 'UNAVAILABLE', requestId: refused.headers.get('x-request-id') });
  t.equal(await exit, 0, 'and a peer that is gone does not spoil the end');
  watcher.destroy();
});
