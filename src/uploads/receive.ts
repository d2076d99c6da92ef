/** The bytes of one request on their way from the socket into a sink, with nothing in between. */
import type { Readable } from 'node:stream';
import type { Sink } from '../ports/data-store.ts';

/**
 * How a body ended: `end` whole; `cut` the connection broke; `idle` no byte for too long; `overrun` more than `limit`
 * arrived, and the chunk that passed it was dropped; `stopped` the signal asked for it.
 */
export type Ending = 'end' | 'cut' | 'idle' | 'overrun' | 'stopped';

export interface Received {
  readonly ending: Ending;
  /** Bytes given to the sink. */
  readonly bytes: number;
}

export interface ReceiveOptions {
  /** Bytes that may come. */
  readonly limit: number;
  readonly idleMs: number;
  readonly stopped: AbortSignal;
  /** Called after each chunk with the number of bytes so far. */
  readonly onChunk?: (chunk: Buffer, bytes: number) => void;
}

/** Rejects only when the sink fails. The body is left paused unless it ended. */
export const receive = (
  body: Readable,
  sink: Pick<Sink, 'write' | 'drained'>,
  options: ReceiveOptions,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    let bytes = 0;
    let settled = false;
    let waiting = false;

    const settle = (end: () => void) => {
      settled = true;
      clearTimeout(idle);
      options.stopped.removeEventListener('abort', onStop);
      body.off('data', onData).off('end', onEnd).off('close', onCut);
      body.pause();
      end();
    };
    const finish = (ending: Ending) => settle(() => resolve({ ending, bytes }));
    const fail = (error: unknown) => settle(() => reject(error));

    const onEnd = () => finish('end');
    const onCut = () => {
      // What had arrived while the body was paused waits in its buffer still.
      for (let chunk = body.read(); chunk !== null && !settled; chunk = body.read()) onData(chunk);
      finish('cut');
    };
    const onStop = () => finish('stopped');
    // A sink that is slow is not a client that is silent.
    const onIdle = () => (waiting ? idle.refresh() : finish('idle'));
    const idle = setTimeout(onIdle, options.idleMs);

    const onData = (chunk: Buffer) => {
      if (bytes + chunk.length > options.limit) return finish('overrun');
      bytes += chunk.length;
      idle.refresh();
      if (!sink.write(chunk)) {
        waiting = true;
        body.pause();
        sink.drained().then(onDrained, fail);
      }
      options.onChunk?.(chunk, bytes);
    };
    const onDrained = () => {
      waiting = false;
      idle.refresh();
      if (!options.stopped.aborted && !body.destroyed) body.resume();
    };

    // The error of a broken connection is followed by `close`; without a listener it would end the process.
    body.on('error', ignore);
    if (options.stopped.aborted) return onStop();
    if (body.destroyed && !body.readableEnded) return onCut();
    options.stopped.addEventListener('abort', onStop);
    body.on('data', onData).on('end', onEnd).on('close', onCut);
  });

const ignore = () => {};
