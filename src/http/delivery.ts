/** Whether an answer has reached its client, as far as the connection tells (WIRE 1, rule 3). */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Who hears how a connection ends: the last answer that was given on it, since earlier ones were followed by a request. */
const listeners = new WeakMap<Socket, (reset: boolean) => void>();

const watch = (socket: Socket): void => {
  if (listeners.has(socket)) return;
  // Of a reset connection nobody knows what arrived. One that is closed in order was read to its end.
  socket.once('close', (reset) => listeners.get(socket)?.(reset));
};

/**
 * Resolves with `false` when the connection closes before the answer is out, or is reset after it without another
 * answer in between; with `true` when it is closed in order. Never on a connection that stays open.
 */
export const delivery = (response: ServerResponse): Promise<boolean> =>
  new Promise((resolve) => {
    const { socket } = response;
    if (socket === null || socket.destroyed) return resolve(false);
    watch(socket);
    listeners.set(socket, (reset) => resolve(!reset && response.writableFinished));
  });
