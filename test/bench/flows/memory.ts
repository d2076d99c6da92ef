/** What the service still holds of the pictures that it has taken through a flow. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withDirectory } from '../servers.ts';
import { idle, residentMemory } from '../usage.ts';
import type { Photo } from './rows.ts';
import { startRunningService } from './service.ts';

export interface MemoryOptions {
  /** Pictures in all. */
  readonly images: number;
  readonly photo: Photo;
  /** Milliseconds without work before each look at the memory. */
  readonly settle: number;
}

/** MiB of the service itself, without its workers. */
export interface MemorySample {
  /** After the first pictures. */
  readonly warm: number;
  readonly after: number;
}

/** So many pictures come before the first look. */
const first = 10;

export const measureMemory = (parent: string, { images, photo, settle }: MemoryOptions): Promise<MemorySample> =>
  withDirectory(parent, async (directory) => {
    const service = await startRunningService(directory, 'image', await photo.bytes());
    const memoryAfter = async (count: number): Promise<number> => {
      await service.prepare(count);
      await service.go();
      await idle(service.pid);
      await sleep(settle);
      return residentMemory(service.pid);
    };
    try {
      return { warm: await memoryAfter(first), after: await memoryAfter(Math.max(1, images - first)) };
    } finally {
      await service.stop();
    }
  });
