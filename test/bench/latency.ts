/**
 * How long small requests take: when the service has nothing else to do, and while each of its worker children is busy
 * with photographs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Connection, openConnection } from './client.ts';
import type { LatencyOptions } from './options.ts';
import type { LatencySample, Percentiles } from './samples.ts';
import type { Server } from './servers.ts';
import { childSeconds, idle } from './usage.ts';

/** Milliseconds between two requests: sent without a break, they would take the processors from the children. */
const pause = 5;

/** Seconds of processor time after which a child counts as busy. */
const busySeconds = 0.1;

/** What is asked. */
export const latencyRequests = ['HEAD of an upload', 'GET /api/health'] as const;
type ByRequest<T> = Readonly<Record<LatencyRequest, T>>;
type LatencyRequest = (typeof latencyRequests)[number];

/** From where uploads are created to the address of the service, with a slash at its end. */
const baseOf = (url: string): URL => new URL('..', url);

const headsFor = async (connection: Connection, { url, requests }: Server): Promise<ByRequest<string>> => {
  const { location } = await connection.request(requests.create(1000));
  const base = baseOf(url);
  const head = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: ${base.host}\r\n\r\n`;
  return { 'HEAD of an upload': head('HEAD', location), 'GET /api/health': head('GET', `${base.pathname}api/health`) };
};

/** Asks each request so often, in turn. */
const timesOf = async (
  connection: Connection,
  heads: ByRequest<string>,
  count: number,
): Promise<ByRequest<Percentiles>> => {
  const times = byRequest((): number[] => []);
  for (let turn = 0; turn < count; turn += 1) {
    for (const request of latencyRequests) {
      await sleep(pause);
      const start = performance.now();
      await connection.request(heads[request]);
      times[request].push(performance.now() - start);
    }
  }
  return byRequest((request) => percentilesOf(times[request]));
};

const byRequest = <T>(of: (request: LatencyRequest) => T): ByRequest<T> => ({
  'HEAD of an upload': of('HEAD of an upload'),
  'GET /api/health': of('GET /api/health'),
});

const percentilesOf = (values: readonly number[]): Percentiles => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
};

/** Runs `work` while every worker child is busy; resolves with its result and the cores of the least busy child. */
const underLoad = async <T>({ pid, url }: Server, photo: number, work: () => Promise<T>) => {
  const program = fileURLToPath(new URL('image-load.ts', import.meta.url));
  const args = [program, baseOf(url).href.replace(/\/$/, ''), String(photo)];
  const load = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(load, 'exit');
  const failed = exited.then(([code]) => {
    throw new Error(`The load has ended with ${code}`);
  });
  const measured = async () => {
    await once(load.stdout, 'data');
    const least = leastOfChildren(pid);
    while (least() < busySeconds) await sleep(50);
    const [start, used] = [performance.now(), leastOfChildren(pid)];
    const result = await work();
    return { result, cores: used() / ((performance.now() - start) / 1000) };
  };
  try {
    return await Promise.race([measured(), failed]);
  } finally {
    load.kill();
    await exited;
  }
};

/** Seconds of processor time of the child that has used the least since this was called. */
const leastOfChildren = (pid: number): (() => number) => {
  const before = childSeconds(pid);
  return () => Math.min(...childSeconds(pid).map((now, index) => now - (before[index] ?? 0)));
};

export const measureLatency = async (
  server: Server,
  { requests, photo }: LatencyOptions,
): Promise<ByRequest<LatencySample>> => {
  const connection = await openConnection(server.url);
  try {
    const heads = await headsFor(connection, server);
    await timesOf(connection, heads, Math.min(requests, 200));
    await idle(server.pid);
    const quiet = await timesOf(connection, heads, requests);
    const { result: busy, cores } = await underLoad(server, photo, () => timesOf(connection, heads, requests));
    return byRequest((request) => ({ idle: quiet[request], busy: busy[request], cores }));
  } finally {
    connection.close();
  }
};
