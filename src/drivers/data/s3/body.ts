/** What a request carries: it can be opened again for another try, and is never copied together. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';

export interface Body {
  /** Bytes. */
  readonly size: number;
  /** A fresh stream of all of it; `touch` is called as it goes. A small one is a buffer, signed with its hash. */
  open(touch: () => void): Readable | Buffer;
}

/** Up to this size hashing costs nothing, and the server then checks what came. */
const small = 65_536;

export interface ChunksBody extends Body {
  /** How often it was opened. */
  opened(): number;
}

/** Chunks in memory. */
export const chunksBody = (chunks: readonly Buffer[]): ChunksBody => {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  let opened = 0;
  return {
    size,
    open: (touch) => {
      opened += 1;
      return size <= small ? Buffer.concat(chunks) : streamOf(chunks, touch);
    },
    opened: () => opened,
  };
};

const streamOf = (chunks: readonly Buffer[], touch: () => void): Readable => {
  let index = 0;
  return new Readable({
    read() {
      touch();
      this.push(chunks[index] ?? null);
      index += 1;
    },
  });
};

/** The bytes `[start, end)` of a file. */
export const fileBody = (path: string, start: number, end: number): Body => ({
  size: end - start,
  open: (touch) => (start === end ? Buffer.alloc(0) : Readable.from(readFile(path, start, end, touch), binary)),
});

const binary = { objectMode: false };
/** Bytes per read: fewer trips through the thread pool than the 64 KiB of Node. */
const readSize = 262_144;

async function* readFile(path: string, start: number, end: number, touch: () => void) {
  for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: readSize })) {
    touch();
    yield chunk as Buffer;
  }
}
