/** Follows a job over its WebSocket until it ends, however often the connection drops. */
import { backoff, type Output, Problem, pause, type Task } from './api.ts';

export interface Frame {
  readonly type: string;
  readonly seq: number;
  readonly nodeId?: string;
  readonly tasks?: readonly Task[];
  readonly outputs?: Readonly<Record<string, Output>>;
  readonly error?: { readonly nodeId?: string; readonly message: string; readonly code: string };
  /** Milliseconds. */
  readonly duration?: number;
}

const terminal: readonly string[] = ['flow_complete', 'flow_error', 'flow_cancelled'];

/**
 * Resolves with the terminal frame; `show` gets every frame, and nothing when the connection is lost. Tries for ever:
 * only the reader knows when waiting is of no use any more.
 */
export const watchJob = async (jobId: string, signal: AbortSignal, show: (frame?: Frame) => void): Promise<Frame> => {
  let since = 0;
  for (let failures = 0; ; failures += 1) {
    if (failures > 0) await pause(backoff(failures), signal);
    const end = await listen(`ws/flow/${jobId}?since=${since}`, signal, (frame) => {
      failures = 0;
      // Not from the snapshot: what has happened comes after it.
      if (frame.tasks === undefined) since = frame.seq;
      show(frame);
    });
    if (end !== undefined) return end;
    show();
  }
};

/** Resolves with nothing when the socket closes before the terminal frame. */
const listen = (path: string, signal: AbortSignal, take: (frame: Frame) => void): Promise<Frame | undefined> =>
  new Promise((resolve, reject) => {
    const url = new URL(path, document.baseURI);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    signal.addEventListener('abort', () => socket.close());
    socket.onmessage = ({ data }) => {
      const frame: Frame = JSON.parse(String(data));
      take(frame);
      if (terminal.includes(frame.type)) resolve(frame);
    };
    socket.onclose = ({ code }) => {
      if (signal.aborted) reject(signal.reason);
      else if (code === 4001 || code === 4004) reject(new Problem('The service knows no such job of yours'));
      else resolve(undefined);
    };
  });
