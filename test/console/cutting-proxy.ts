/** A network that breaks when told: a TCP proxy before the service. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Owner } from '../support/temporary.ts';

export interface CuttingProxy {
  /** The service's address with the proxy's port. */
  readonly url: string;
  /** Cuts all connections once so many more bytes have gone to the service, and refuses new ones for `ms`. */
  cutAfter(bytes: number, ms: number): void;
  /** The same once the service says these words; they do not arrive. */
  cutBefore(words: string, ms: number): void;
  /** How many times it has cut. */
  readonly cuts: number;
}

export const startCuttingProxy = async (t: Owner, service: string): Promise<CuttingProxy> => {
  const target = new URL(service);
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let words: string | undefined;
  let downMs = 0;
  let downUntil = 0;
  let cuts = 0;
  const cut = () => {
    left = Number.POSITIVE_INFINITY;
    words = undefined;
    downUntil = Date.now() + downMs;
    cuts += 1;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((client) => {
    if (Date.now() < downUntil) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A cut end is what this is for.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      upstream.write(chunk);
      left -= chunk.length;
      if (left < 0) cut();
    });
    upstream.on('data', (chunk) => {
      if (words !== undefined && chunk.includes(words)) cut();
      else client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: service.replace(`:${target.port}`, `:${port}`),
    get cuts() {
      return cuts;
    },
    cutAfter(bytes, ms) {
      left = bytes;
      downMs = ms;
    },
    cutBefore(text, ms) {
      words = text;
      downMs = ms;
    },
  };
};
