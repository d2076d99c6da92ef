/** A disk of its own that is soon full, and room on it that can be taken and given back. */
import { execFile } from 'node:child_process';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Owner, temporaryDirectory } from '../support/temporary.ts';

const run = promisify(execFile);

export interface SmallDisk {
  readonly directory: string;
  /** Takes all room but so many bytes. */
  leave(bytes: number): Promise<void>;
  /** Gives the room back. */
  clear(): Promise<void>;
  /** Bytes that still fit. */
  room(): Promise<number>;
}

/** Why tests skip what needs such a disk, where the environment says that nothing but Node may be asked for. */
export const noDisk = process.env['TEST_SERVICES'] === 'embedded' ? 'only root may mount a small disk' : false;

/**
 * Mounts a tmpfs of so many bytes until the test ends. Only root may mount, and nothing else has the errors of a full
 * disk: so who runs these tests must be root, as on the machines of the CI.
 */
export const mountSmallDisk = async (t: Owner, bytes: number): Promise<SmallDisk> => {
  const directory = await temporaryDirectory(t);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory]);
  t.teardown(async () => {
    // Lazily: the service may be on its way out only.
    await run('umount', ['--lazy', directory]);
  });
  const ballast = join(directory, 'ballast');
  const room = async () => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  };
  return {
    directory,
    room,
    leave: async (left) => writeFile(ballast, Buffer.alloc(Math.max(0, (await room()) - left))),
    clear: () => rm(ballast),
  };
};
