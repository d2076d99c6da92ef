/** Reading objects, over answers that break off or stand still. */
import { Readable } from 'node:stream';
import type { Bucket } from './bucket.ts';
import { accessFailure, isPassing } from './failures.ts';

/** How often in a row nothing may come. */
const tries = 5;

export interface Range {
  readonly start: number;
  /** Absent: to the end. */
  readonly end?: number;
}

/** Rejects when there is no such object; what breaks off later is asked for again from where it was. */
export const openObject = async (bucket: Bucket, name: string, range: Range, idleMs: number): Promise<Readable> => {
  const first = await bucket.get(name, range).catch((error: unknown) => {
    throw accessFailure(error);
  });
  const bytes = bytesOf(bucket, name, range.start, first, idleMs);
  const { stream } = first;
  // A stream that nobody has read from does not come to its own end.
  return Readable.from(bytes, { objectMode: false }).once('close', () => stream.readableDidRead || stream.destroy());
};

/** The whole range in memory. */
export const loadObject = async (bucket: Bucket, name: string, idleMs: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of await openObject(bucket, name, { start: 0 }, idleMs)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

type Opened = Awaited<ReturnType<Bucket['get']>>;

async function* bytesOf(bucket: Bucket, name: string, start: number, first: Opened, idleMs: number) {
  const end = start + first.size;
  let { stream } = first;
  let position = start;
  try {
    for (let failures = 0; position < end; ) {
      const chunk = await next(stream, idleMs).catch((error: unknown) => {
        failures += 1;
        if (failures === tries || !isPassing(error)) throw accessFailure(error);
      });
      if (chunk instanceof Buffer) {
        position += chunk.length;
        failures = 0;
        yield chunk;
      } else {
        stream.destroy();
        // The same version: a file never changes half way.
        ({ stream } = await reopen(bucket, name, { start: position, end }, first.etag));
      }
    }
  } finally {
    // Its connection can be used again when it has come to its end, which it must be read to see.
    if (position === end) stream.resume();
    else stream.destroy();
  }
}

const reopen = (bucket: Bucket, name: string, range: Range, etag: string): Promise<Opened> =>
  bucket.get(name, range, etag).catch((error: unknown) => {
    throw accessFailure(error);
  });

/** The next bytes. Rejects when the stream ends, as whoever asks knows that more must come. */
const next = (stream: Readable, idleMs: number): Promise<Buffer> => {
  const chunk: Buffer | null = stream.read();
  if (chunk !== null) return Promise.resolve(chunk);
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      const read: Buffer | null = error === undefined ? stream.read() : null;
      if (read === null && error === undefined && !stream.readableEnded && !stream.destroyed) return;
      clearTimeout(timer);
      stream.off('readable', onReadable).off('error', settle).off('end', onEnd).off('close', onEnd);
      if (read === null) reject(error ?? new Error('The answer is too short'));
      else resolve(read);
    };
    const onReadable = () => settle();
    const onEnd = () => settle(new Error('The answer is too short'));
    const timer = setTimeout(() => settle(new Error('The answer stands still')), idleMs);
    stream.on('readable', onReadable).on('error', settle).on('end', onEnd).on('close', onEnd);
    if (stream.destroyed || stream.readableEnded) onEnd();
  });
};
