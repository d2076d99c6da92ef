/** Puts finished local files in their place, all at once. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, readdir, rename, rm, stat } from 'node:fs/promises';
import type { Directories } from './directories.ts';
import { syncPath } from './directories.ts';
import { codeOf } from './failures.ts';

/** Below the root, for copies that are not complete; `~` is in no key, so no key can name it. */
const incoming = '~incoming';

/** Milliseconds after which a copy that nobody has touched belongs to a process that died. */
const abandonedAfter = 3_600_000;

/** Makes the root and its folder for incomplete copies, and removes those that a crash has left there. */
export const prepareIncoming = async (root: string, directories: Directories, now: number): Promise<void> => {
  const directory = `${root}/${incoming}`;
  const names = await directories.within(`${directory}/*`, () => readdir(directory));
  for (const name of names) {
    // Another process may share the root, so a copy may also be finished, or gone, by now.
    const touched = await stat(`${directory}/${name}`).catch(() => undefined);
    if (touched !== undefined && touched.mtimeMs < now - abandonedAfter) await rm(`${directory}/${name}`);
  }
};

export interface PublishOptions {
  readonly root: string;
  readonly durable: boolean;
  readonly directories: Directories;
}

/** Moves the file at `path` to `target`; between file systems, where a rename cannot, by way of a complete copy. */
export const createPublish = ({ root, durable, directories }: PublishOptions) => {
  const sync = (path: string): Promise<void> => (durable ? syncPath(path) : access(path));

  const moveAcross = async (path: string, target: string): Promise<void> => {
    const copy = `${root}/${incoming}/${randomBytes(16).toString('hex')}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_FICLONE);
      await sync(copy);
      await directories.within(target, () => rename(copy, target));
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
    await rm(path, { force: true });
  };

  return async (path: string, target: string): Promise<void> => {
    await sync(path);
    try {
      await directories.within(target, () => rename(path, target));
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw error;
      await moveAcross(path, target);
    }
    await directories.syncName(target);
  };
};
