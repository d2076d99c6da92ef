/** A network that misbehaves when told: a TCP proxy in front of the service. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '../support/temporary.ts';
import { gate } from '../support/wait.ts';

/** What the network does to all connections together. Nothing set: everything passes. */
export interface Faults {
  /** So many more bytes of the clients go to the service; then `by` happens. 0: at once. */
  readonly after?: number;
  /** `by` happens as soon as the service says these words; they do not arrive. */
  readonly before?: string;
  /**
   * `rst`: both ends of all connections are reset, which may take with it what was still on its way. `fin`: the service
   * gets all that has passed, and then its end. After either nothing more passes, and new connections are reset.
   * `silence`: all connections stay open, but until the next `set` nothing passes, not even that the other side is gone.
   */
  readonly by?: 'rst' | 'fin' | 'silence';
  /** How fast each client's bytes go to the service. */
  readonly bytesPerSecond?: number;
  /** At most so many of a client's bytes go to the service at once. */
  readonly pieceLength?: number;
}

export interface FaultProxy {
  /** The service's address with the proxy's port. */
  readonly url: string;
  /** What the network does from now on, to open connections too; takes the place of what was set before. */
  set(faults: Faults): void;
  /** How many times it has done `by`. */
  readonly cuts: number;
}

/** Closes with the test. `service`: its address. */
export const startFaultProxy = async (t: Owner, service: string): Promise<FaultProxy> => {
  const target = new URL(service);
  const network = createNetwork();
  const server = createServer({ allowHalfOpen: true }, (client) =>
    network.join(client, connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    network.set({});
    network.reset();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: service.replace(`:${target.port}`, `:${port}`),
    set: network.set,
    get cuts() {
      return network.cuts();
    },
  };
};

const createNetwork = () => {
  /** Both ends of each connection. */
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let faults: Faults = {};
  /** Bytes until `by` happens. */
  let left = Number.POSITIVE_INFINITY;
  let cut = false;
  let cuts = 0;
  /** Closed during a silence. */
  let road = gate();
  road.open();

  const reset = () => {
    // A reset while an end is on its way fails in libuv, and Node 24 then never comes to its own end.
    for (const socket of sockets) socket.writableEnded ? socket.destroy() : socket.resetAndDestroy();
  };
  const happen = () => {
    cuts += 1;
    left = Number.POSITIVE_INFINITY;
    cut = faults.by !== 'silence';
    if (faults.by === 'silence') road = gate();
    else if (faults.by === 'fin') for (const upstream of upstreams) upstream.end();
    else reset();
  };
  const set = (next: Faults) => {
    faults = next;
    left = next.after ?? Number.POSITIVE_INFINITY;
    cut = false;
    road.open();
    if (left === 0) happen();
  };

  const toService = async (upstream: Socket, data: Buffer) => {
    for (let rest = data; rest.length > 0; ) {
      await road.passed;
      if (cut || upstream.destroyed) return;
      const piece = rest.subarray(0, Math.min(left, faults.pieceLength ?? rest.length));
      rest = rest.subarray(piece.length);
      left -= piece.length;
      const passed = write(upstream, piece);
      if (left === 0) happen();
      await passed;
      if (faults.bytesPerSecond !== undefined) await sleep((piece.length / faults.bytesPerSecond) * 1000);
    }
  };
  const toClient = async (client: Socket, data: Buffer) => {
    await road.passed;
    if (cut) return;
    if (faults.before !== undefined && data.includes(faults.before)) happen();
    else await write(client, data);
  };
  /** One direction: the next bytes are taken when these have passed. */
  const pass = (from: Socket, to: Socket, carry: (to: Socket, data: Buffer) => Promise<void>) => {
    let carried = Promise.resolve();
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (data) => {
      from.pause();
      carried = carry(to, data).then(() => void from.resume());
    });
    /** When all that came before has passed. */
    const then = async (work: () => void) => {
      await carried;
      await road.passed;
      work();
    };
    from.on('end', () => then(() => to.end()));
    // Followed by `close`.
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      return then(() => to.destroy());
    });
  };
  const join = (client: Socket, upstream: Socket) => {
    pass(client, upstream, toService);
    pass(upstream, client, toClient);
    upstreams.add(upstream);
    upstream.on('close', () => upstreams.delete(upstream));
    if (cut) reset();
  };
  return { join, set, reset, cuts: () => cuts };
};

/** Resolves when the system has taken the bytes, or will take no more. */
const write = (socket: Socket, data: Buffer): Promise<void> =>
  new Promise((resolve) => (socket.writable ? socket.write(data, () => resolve()) : resolve()));
