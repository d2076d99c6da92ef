/** The file systems that the servers write to. */
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';

/** The type of the file system that the directory is on. */
export const fileSystemOf = (directory: string): string => {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const above = mounts.filter(([, place = '/']) => `${resolve(directory)}/`.startsWith(place.replace(/\/?$/, '/')));
  const [nearest] = above.toSorted(([, a = ''], [, b = '']) => b.length - a.length);
  return nearest?.[2] ?? 'unknown';
};

/** Rejects unless so many bytes fit, and a tenth more. */
export const requireRoom = async (directory: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < 1.1 * bytes) throw new Error(`${directory} has no room for ${bytes} bytes`);
};
