/** A client of the event sockets that keeps every frame. */
import { WebSocket } from 'ws';

export interface ReceivedFrame {
  readonly type: string;
  readonly seq: number;
  readonly timestamp: string;
  readonly [field: string]: unknown;
}

export interface EventSocket {
  readonly socket: WebSocket;
  /** Those received so far. */
  readonly frames: readonly ReceivedFrame[];
  /** Resolves once a frame of this type is there. */
  until(type: string): Promise<ReceivedFrame>;
  /** The close code and reason that the service gave. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** `path` follows the address of the service, `/ws/upload/...`. Nobody needs to close what the test has opened. */
export const openEvents = (url: string, path: string): EventSocket => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`);
  const frames: ReceivedFrame[] = [];
  const watchers = new Set<() => void>();
  let done = false;
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    wake();
  });
  // Followed by `close`.
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      done = true;
      wake();
      resolve({ code, reason: String(reason) });
    });
  });
  return {
    socket,
    frames,
    closed,
    async until(type) {
      for (;;) {
        const frame = frames.find((one) => one.type === type);
        if (frame !== undefined) return frame;
        if (done) throw new Error(`the socket has closed without ${type}: ${JSON.stringify(frames)}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        watchers.add(resolve);
        await promise;
        watchers.delete(resolve);
      }
    },
  };
};
