import { access, constants, type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { safeFileName } from '../../domain/file-name.ts';
import type { JobRecord } from '../../domain/job.ts';
import { extensionOf } from '../../domain/media-type.ts';
import type { Engine } from '../../engine/index.ts';
import { CommandError } from '../command.ts';

export interface WrittenOutput {
  /** As in the job record. */
  readonly key: string;
  readonly path: string;
}

/** Refuses a place that nothing can be written to, before the work is done and not after it; it need not be there. */
export const requireWritable = async (directory: string): Promise<void> => {
  try {
    if (!(await stat(directory)).isDirectory()) throw new CommandError(`${directory} is not a directory`);
    await access(directory, constants.W_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

/** Copies the outputs of a completed job into the directory, in the order of their keys, and tells where. */
export const writeOutputs = async (
  engine: Pick<Engine, 'output'>,
  job: JobRecord,
  directory: string,
  signal: AbortSignal,
): Promise<readonly WrittenOutput[]> => {
  await mkdir(directory, { recursive: true });
  const written: WrittenOutput[] = [];
  for (const key of Object.keys(job.outputs ?? {})) {
    const { output, store } = await engine.output(job.id, key, undefined);
    const name = safeFileName(output.fileName, `${key}.${extensionOf(output.mimeType)}`);
    const bytes = await store.read(output.key);
    const { path, file } = await createFile(directory, name);
    written.push({ key, path });
    await pipeline(bytes, file.createWriteStream(), { signal }).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
  }
  return written;
};

/** A file that was not there before: `name.ext`, else `name (2).ext` and so on. */
const createFile = async (directory: string, name: string): Promise<{ path: string; file: FileHandle }> => {
  const { name: stem, ext } = parse(name);
  for (let number = 1; ; number += 1) {
    const path = join(directory, number === 1 ? name : `${stem} (${number})${ext}`);
    try {
      return { path, file: await open(path, 'wx') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
};
