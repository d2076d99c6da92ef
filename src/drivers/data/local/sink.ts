/**
 * The sink of one PATCH: three trips through the thread pool for a small upload (open, write, sync), a directory sync
 * beside the third when the file is new, and a cut before it when something may lie beyond the end.
 */
import fs from 'node:fs';
import { ServiceError } from '../../../domain/errors.ts';
import type { Sink } from '../../../ports/data-store.ts';
import { settled } from './directories.ts';
import { writeFailure } from './failures.ts';
import type { Room } from './room.ts';
import { createWriter } from './writer.ts';

export interface SinkOptions {
  /** Open for writing; the sink closes it. */
  readonly fd: number;
  readonly offset: number;
  /** See `AppendOptions`. */
  readonly owned: boolean;
  /** The file did not exist before: nothing can lie beyond what this sink writes. */
  readonly fresh: boolean;
  /** Sync to the disk, or leave that to the operating system. */
  readonly durable: boolean;
  /** Makes the name of the file durable. */
  readonly syncName: () => Promise<void>;
  readonly room: Room;
}

export const createSink = ({ fd, offset, owned, fresh, durable, syncName, room }: SinkOptions): Sink => {
  const leave = room.enter();
  const writer = createWriter({ fd, offset, owned, room: room.each });
  // The file up to here is durable; -1: not even its name, or its end, is. An offset above 0 was committed after a
  // sync of the name.
  let synced = offset === 0 ? -1 : offset;
  let named = offset > 0;
  // What uses the descriptor beside the writer; close waits for it.
  let busy: Promise<void> = Promise.resolve();

  const settle = async (end: number): Promise<void> => {
    const data = settled((done) => fs.fdatasync(fd, done));
    // Both are waited for even if one fails, as the descriptor stays in use until then.
    const results = await Promise.allSettled([data, named ? undefined : syncName()]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    named = true;
    synced = end;
  };
  // After a failed sync nobody knows what is on the disk, and a second one would claim success: never try again.
  const guard = async (work: Promise<void>): Promise<void> => {
    busy = work.catch(() => {});
    try {
      await work;
    } catch (error) {
      writer.fail(writeFailure(error));
      writer.check();
    }
  };
  const sync = async (end: number): Promise<void> => {
    if (durable && synced !== end) await guard(settle(end));
  };
  const cut = async (length: number): Promise<void> => {
    synced = -1;
    await guard(settled((done) => fs.ftruncate(fd, length, done)));
  };

  // The end of what was promised to be there.
  let kept = offset;
  /** Cuts off what nobody was promised: on a full disk others wait for its room. Where that fails it does no harm. */
  const giveBack = async (): Promise<void> => {
    if (writer.position() > kept) await settled((done) => fs.ftruncate(fd, kept, done)).catch(() => {});
  };

  return {
    write: writer.push,
    drained: writer.drained,
    sync: async () => {
      writer.check();
      const end = writer.position();
      await sync(end);
      kept = end;
      return { offset: end };
    },
    finish: async ({ length } = {}) => {
      await writer.idle();
      const end = length ?? writer.position();
      if (end > writer.position()) throw lacking(end - writer.position());
      if (length !== undefined && !(fresh && end === writer.position())) await cut(length);
      await sync(end);
      kept = end;
      return { offset: end };
    },
    close: createClose(fd, async () => {
      await Promise.all([writer.stop(), busy]).finally(leave);
      await giveBack();
    }),
  };
};

/** Cutting "off" at a length that was never reached would fill the file up with zeros. */
const lacking = (bytes: number): ServiceError =>
  new ServiceError('STORAGE_ERROR', undefined, { cause: new Error(`${bytes} bytes are missing at the end`) });

/**
 * Closes the descriptor once it is no longer in use, however often it is asked to. On the main thread: nothing is
 * written by closing a local file, and a trip through the thread pool costs as much as writing a small upload.
 */
const createClose = (fd: number, unused: () => Promise<unknown>): (() => Promise<void>) => {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= unused()
      .then(() => fs.closeSync(fd))
      .catch((error: unknown) => {
        throw writeFailure(error);
      });
    return closed;
  };
};
