/** The running service, and a client that takes pictures to it over HTTP and brings back what was made of them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../../support/api.ts';
import { openEvents } from '../../support/event-socket.ts';
import { startService } from '../../support/running-service.ts';
import { type Connection, openConnection } from '../client.ts';
import { benchFlows, inputKey } from './definitions.ts';
import { type Contestant, timed } from './programs.ts';

/** Pictures on their way at once: while one is computed for each worker, others come in and go out. */
const lanes = 2 * availableParallelism();

/** Starts Sluice with its defaults in the directory. A piece of work is one picture through the flow. */
export const startRunningService = async (directory: string, flowId: string, photo: Buffer): Promise<Contestant> => {
  const flows = join(directory, 'flows');
  await mkdir(flows);
  await writeFile(join(flows, `${flowId}.json`), JSON.stringify(benchFlows[flowId]));
  const service = await startService({ DATA_DIR: join(directory, 'data'), FLOWS_DIR: flows });
  const connections = await Promise.all(Array.from({ length: lanes }, () => openConnection(service.url)));
  let count = 0;
  return {
    pid: service.pid,
    prepare: async (next) => {
      count = next;
    },
    go: () =>
      timed(() => inLanes(connections, count, (connection) => takeThrough(connection, service.url, flowId, photo))),
    stop: () => {
      for (const connection of connections) connection.close();
      return service.stop();
    },
  };
};

const inLanes = async (
  connections: readonly Connection[],
  count: number,
  work: (connection: Connection) => Promise<void>,
): Promise<void> => {
  let left = count;
  const keepBusy = async (connection: Connection) => {
    while (left-- > 0) await work(connection);
  };
  await Promise.all(connections.map(keepBusy));
};

const head = (url: string, method: string, path: string, headers: Readonly<Record<string, string | number>> = {}) => {
  const lines = Object.entries({ Host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

/** Starts the flow, uploads the picture, waits for the end at the event socket, downloads what was made. */
const takeThrough = async (connection: Connection, url: string, flowId: string, photo: Buffer): Promise<void> => {
  const base = new URL(url).pathname;
  const metadata = { originalName: 'photo.jpg', mimeType: 'image/jpeg', size: photo.length };
  const body = Buffer.from(JSON.stringify({ inputs: { [inputKey]: { operation: 'init', metadata } } }));
  const json = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const started = await connection.request(head(url, 'POST', `${base}/api/flow/${flowId}/default`, json), body);
  const job: Answer = JSON.parse(started.body);
  const { result } = job.tasks.find(({ nodeId }: Answer) => nodeId === inputKey);
  const events = openEvents(url, `/ws/flow/${job.jobId}`);
  const patch = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': 0 };
  const append = head(url, 'PATCH', `${base}/api/upload/${result.id}`, { ...patch, 'Content-Length': photo.length });
  await connection.request(append, photo);
  const { outputs }: Answer = await events.until('flow_complete');
  events.socket.close();
  for (const output of Object.values<Answer>(outputs)) {
    const made = await connection.request(head(url, 'GET', new URL(output.url, url).pathname));
    if (made.body.length !== output.size) throw new Error(`${made.body.length} bytes instead of ${output.size}`);
  }
};
