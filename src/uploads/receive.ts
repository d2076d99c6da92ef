/** The bytes of one request on their way from the socket into a sink, with nothing in between. */
import type { Readable } from 'node:stream';
import type { Sink } from '../ports/data-store.ts';
import type { Owner } from '../ports/owners.ts';
import { createPace, type Pace, tickMs } from './pace.ts';

/**
 * How a body ended: `end` whole; `cut` the connection broke; `idle` no byte for too long; `slow` too few bytes;
 * `silent` no byte for a while, and another writer waits; `overrun` more than `limit` arrived, and the chunk that passed
 * it was dropped; `stopped` the owner must let go.
 */
export type Ending = 'end' | 'cut' | 'idle' | 'slow' | 'silent' | 'overrun' | 'stopped';

export interface Received {
  readonly ending: Ending;
  /** Bytes given to the sink. */
  readonly bytes: number;
}

export interface ReceiveOptions {
  /** Bytes that may come. */
  readonly limit: number;
  readonly pace: Pace;
  readonly owner: Pick<Owner, 'stopped' | 'onStop' | 'isAwaited'>;
  /** Called after each chunk with the number of bytes so far, while the chunk is still whole. */
  readonly onChunk?: (chunk: Buffer, bytes: number) => void;
  /** Called some times a second, whether anything comes or not. */
  readonly onTick?: (bytes: number) => void;
}

/** Rejects only when the sink fails. The body is left paused unless it ended. */
export const receive = (
  body: Readable,
  sink: Pick<Sink, 'write' | 'drained'>,
  options: ReceiveOptions,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    const { limit, owner, onChunk, onTick } = options;
    let bytes = 0;
    let settled = false;
    let waiting = false;

    const settle = () => {
      settled = true;
      clearInterval(timer);
      body.off('data', onData).off('end', onEnd).off('close', onCut);
      body.pause();
    };
    const finish = (ending: Ending) => {
      if (settled) return;
      settle();
      resolve({ ending, bytes });
    };
    const fail = (error: unknown) => {
      settle();
      reject(error);
    };
    const onEnd = () => finish('end');
    const onCut = () => {
      // What had arrived while the body was paused waits in its buffer still.
      for (let chunk = body.read(); chunk !== null && !settled; chunk = body.read()) onData(chunk);
      finish('cut');
    };
    const pace = createPace(options.pace);
    const judge = () => {
      onTick?.(bytes);
      // A sink that is slow is not a client that is silent.
      const verdict = pace(waiting ? undefined : bytes, owner.isAwaited());
      if (verdict !== undefined) finish(verdict);
    };
    const timer = setInterval(judge, tickMs(options.pace));

    const onData = (chunk: Buffer) => {
      if (bytes + chunk.length > limit) return finish('overrun');
      bytes += chunk.length;
      if (!sink.write(chunk)) {
        waiting = true;
        body.pause();
        sink.drained().then(onDrained, fail);
      }
      onChunk?.(chunk, bytes);
    };
    const onDrained = () => {
      waiting = false;
      if (!settled && !body.destroyed) body.resume();
    };

    // The error of a broken connection is followed by `close`; without a listener it would end the process.
    body.on('error', ignore);
    if (owner.stopped !== undefined) return finish('stopped');
    if (body.destroyed && !body.readableEnded) return onCut();
    owner.onStop(() => finish('stopped'));
    body.on('data', onData).on('end', onEnd).on('close', onCut);
  });

const ignore = () => {};
