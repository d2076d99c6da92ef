/** Whether an answer has reached its client, as far as the connection tells (WIRE 1, rule 3). */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The answers of a connection of which nobody knows yet whether they have arrived, and who waits to hear it. */
type Doubts = Map<ServerResponse, (delivered: boolean) => void>;

const doubts = new WeakMap<Socket, Doubts>();

/**
 * Resolves with `true` when the connection brings another request after the answer, or is closed in order; with `false`
 * when it is closed before the answer is out, or is reset after it. Never on a connection that stays open and silent.
 */
export const delivery = (response: ServerResponse): Promise<boolean> =>
  new Promise((resolve) => {
    const { socket } = response;
    if (socket === null || socket.destroyed) return resolve(false);
    doubtsOf(socket).set(response, resolve);
  });

const doubtsOf = (socket: Socket): Doubts => doubts.get(socket) ?? watch(socket);

const watch = (socket: Socket): Doubts => {
  const all: Doubts = new Map();
  doubts.set(socket, all);
  // Of a reset connection nobody knows what arrived. One that is closed in order was read to its end.
  socket.once('close', (reset) => {
    for (const [response, resolve] of all) resolve(!reset && response.writableFinished);
  });
  return all;
};

/** Tells of each request: its client has the answers before it. */
export const watchDeliveries = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    endDoubts(doubts.get(request.raw.socket));
    done();
  });
};

const endDoubts = (all: Doubts | undefined): void => {
  if (all === undefined) return;
  for (const [response, resolve] of all) {
    // A request that comes while an answer is not out yet has not waited for it (pipelining), and proves nothing.
    if (response.writableFinished && all.delete(response)) resolve(true);
  }
};
