/** The writer of the local data store: what becomes of the memory of the chunks. */
import fs from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createWriter } from '../../../../src/drivers/data/local/writer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const size = 65_536;

/** A chunk as a socket brings it: alone in its memory. */
const chunkOf = (byte: number): Buffer => Buffer.from(new ArrayBuffer(size)).fill(byte);

const openFile = async (t: Test) => {
  const path = join(await temporaryDirectory(t), 'file');
  const file: FileHandle = await open(path, 'w');
  t.teardown(() => file.close());
  return { fd: file.fd, content: () => readFile(path) };
};

void t.test('an owned chunk gives its memory back once it is written', async (t) => {
  const { fd, content } = await openFile(t);
  const writer = createWriter({ fd, offset: 0, owned: true, room: () => 1_048_576 });
  const chunks = [chunkOf(1), chunkOf(2), chunkOf(3)];
  for (const chunk of chunks) writer.push(chunk);
  t.ok(
    chunks.every((chunk) => chunk.length === size),
    'not before',
  );
  await writer.idle();
  t.strictSame(
    chunks.map((chunk) => chunk.length),
    [0, 0, 0],
  );
  t.ok((await content()).equals(Buffer.concat([chunkOf(1), chunkOf(2), chunkOf(3)])));
});

void t.test('a chunk that is written by and by keeps its memory until the last of it', async (t) => {
  const { fd, content } = await openFile(t);
  const lengths: number[] = [];
  const chunk = chunkOf(7);
  const original = fs.writev as (...args: unknown[]) => void;
  t.intercept(fs, 'writev', {
    value: (
      fd: number,
      [first]: readonly Buffer[],
      position: number,
      done: (error: unknown, bytes: number) => void,
    ) => {
      lengths.push(chunk.length);
      original(fd, [first?.subarray(0, 50_000)], position, done);
    },
  });
  const writer = createWriter({ fd, offset: 0, owned: true, room: () => 1_048_576 });
  writer.push(chunk);
  await writer.idle();
  t.strictSame(lengths, [size, size], 'two writes, both from the whole chunk');
  t.ok((await content()).equals(chunkOf(7)));
});

void t.test('a part of something larger stays, and so does what is not owned', async (t) => {
  const { fd, content } = await openFile(t);
  const larger = new ArrayBuffer(2 * size);
  const part = Buffer.from(larger, 0, size);
  const owning = createWriter({ fd, offset: 0, owned: true, room: () => 1_048_576 });
  owning.push(part);
  await owning.idle();
  t.equal(larger.byteLength, 2 * size);
  t.equal(part.length, size);
  const whole = chunkOf(5);
  const other = createWriter({ fd, offset: size, owned: false, room: () => 1_048_576 });
  other.push(whole);
  await other.idle();
  t.ok((await content()).equals(Buffer.concat([Buffer.alloc(size), whole])));
});
