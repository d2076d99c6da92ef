/** Writes chunks one after the other at explicit positions of a descriptor, without blocking whoever brings them. */
import fs from 'node:fs';
import { ServiceError } from '../../../domain/errors.ts';
import { release } from '../release.ts';
import { writeFailure } from './failures.ts';

export interface Writer {
  /** Where the bytes that the operating system has taken end. */
  position(): number;
  /** Takes a chunk; `false` when more than its room waits behind the write in flight, and after a failure. */
  push(chunk: Buffer): boolean;
  /** Resolves when there is room again, or rejects with the first failure. */
  drained(): Promise<void>;
  /** Resolves when everything taken is written, or rejects with the first failure. */
  idle(): Promise<void>;
  /** Nothing is written from here on, and every call rejects with the first error given. */
  fail(error: ServiceError): void;
  /** Throws the first failure. */
  check(): void;
  /** Gives up what waits; resolves when the descriptor is no longer in use. */
  stop(): Promise<void>;
}

/** One for all: the stack of an error costs more than closing the file. */
const closed = new ServiceError('STORAGE_ERROR', undefined, { cause: new Error('The sink is closed') });

/** What is left of `chunks` after their first `written` bytes. */
const skip = (chunks: readonly Buffer[], written: number): readonly Buffer[] => {
  let left = written;
  const index = chunks.findIndex((chunk) => {
    if (chunk.length > left) return true;
    left -= chunk.length;
    return false;
  });
  const partial = chunks[index];
  return partial === undefined ? [] : [partial.subarray(left), ...chunks.slice(index + 1)];
};

export interface WriterOptions {
  readonly fd: number;
  readonly offset: number;
  /** Nobody but the writer looks at the chunks. */
  readonly owned: boolean;
  /** Bytes that may wait, at the moment. */
  readonly room: () => number;
}

export const createWriter = ({ fd, offset, owned, room }: WriterOptions): Writer => {
  let position = offset;
  let waiting: Buffer[] = [];
  /** Bytes in `waiting`. */
  let bytes = 0;
  let inFlight = false;
  let failure: ServiceError | undefined;
  let watchers: (() => void)[] = [];

  const wake = (): void => {
    const woken = watchers;
    watchers = [];
    for (const resolve of woken) resolve();
  };
  const until = async (reached: () => boolean): Promise<void> => {
    while (!reached()) await new Promise<void>((resolve) => watchers.push(resolve));
  };
  const fail = (error: ServiceError): void => {
    failure ??= error;
    waiting = [];
    wake();
  };
  const write = (chunks: readonly Buffer[]): void => {
    inFlight = true;
    fs.writev(fd, chunks, position, (error, written) => {
      inFlight = false;
      if (error !== null) return fail(writeFailure(error));
      if (written === 0) return fail(writeFailure(new Error('The disk takes no more bytes')));
      position += written;
      const rest = skip(chunks, written);
      if (owned) chunks.slice(0, chunks.length - rest.length).forEach(release);
      continueWith(rest);
    });
  };
  const continueWith = (rest: readonly Buffer[]): void => {
    if (failure === undefined && rest.length > 0) write(rest);
    else flush();
    wake();
  };
  const flush = (): void => {
    if (inFlight || bytes === 0 || failure !== undefined) return;
    const chunks = waiting;
    waiting = [];
    bytes = 0;
    write(chunks);
  };
  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  const sound = async (reached: () => boolean): Promise<void> => {
    await until(() => failure !== undefined || reached());
    check();
  };

  return {
    position: () => position,
    push: (chunk) => {
      if (failure !== undefined) return false;
      waiting.push(chunk);
      bytes += chunk.length;
      flush();
      return bytes <= room();
    },
    drained: () => sound(() => bytes <= room()),
    idle: () => sound(() => !inFlight),
    fail,
    check,
    stop: async () => {
      fail(closed);
      await until(() => !inFlight);
    },
  };
};
