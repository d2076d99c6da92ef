/** Files one after the other in one file. */
import { createReadStream, createWriteStream } from 'node:fs';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { NodeOutput, NodeRun } from '../../ports/node.ts';
import type { WorkerFile } from '../../ports/worker-pool.ts';

export const anyBytes = 'application/octet-stream';

/** Writes the bytes of the files with the separator between them. */
export const writeConcat = async (
  run: Pick<NodeRun<unknown>, 'files' | 'directory'>,
  separator = '',
): Promise<NodeOutput> => {
  const mimeType = commonType(run.files.map((file) => file.mimeType));
  const extension = mimeType === anyBytes ? '.bin' : safeExtension(run.files[0]?.fileName ?? '');
  const fileName = `merged${extension}`;
  const path = join(run.directory, fileName);
  await pipeline(bytesOf(run.files, separator), createWriteStream(path));
  return { path, mimeType, fileName, meta: {} };
};

async function* bytesOf(files: readonly WorkerFile[], separator: string): AsyncGenerator<Buffer | string> {
  for (const [index, file] of files.entries()) {
    if (index > 0 && separator !== '') yield separator;
    yield* createReadStream(file.path);
  }
}

/** The type of all, without parameters where those differ. */
export const commonType = ([first = anyBytes, ...others]: readonly string[]): string => {
  if (others.every((type) => type === first)) return first;
  const base = baseOf(first);
  return others.every((type) => baseOf(type) === base) ? base : anyBytes;
};

const baseOf = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

const safeExtension = (fileName: string): string => {
  const extension = extname(fileName);
  return /^\.[A-Za-z0-9]{1,16}$/.test(extension) ? extension : '.bin';
};
