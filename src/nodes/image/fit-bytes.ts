/** A picture in no more than so many bytes, at the best quality that a few tries find. */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeOutput } from '../../ports/node.ts';
import { tooManyBytes } from './errors.ts';

/** Encodes after the first: each halves what is left of the qualities below, so that the last one is near 1. */
const tries = 5;

export interface FitBytes {
  /** The picture as it came out first, over the limit. */
  readonly encoded: NodeOutput;
  /** The quality that was too much: lower ones are tried, down to 1; `undefined`: what is written has none. */
  readonly below: number | undefined;
  readonly maxBytes: number;
  /** Writes the picture at that quality below a folder. */
  readonly encode: (quality: number, directory: string) => Promise<NodeOutput>;
  /** An empty folder is made in here for the tries, and removed. */
  readonly directory: string;
}

/**
 * Puts a smaller one of lower quality in the place of `encoded`, and gives it back. Throws `FILE_TOO_LARGE`, with the
 * bytes of the smallest one as `actual`, when no quality is low enough.
 */
export const fitBytes = async (given: FitBytes): Promise<NodeOutput> => {
  const { encoded, below = 1, maxBytes, encode } = given;
  const directory = join(given.directory, 'tries');
  await mkdir(directory);
  let [low, high] = [1, below - 1];
  let best: NodeOutput | undefined;
  let smallest = (await stat(encoded.path)).size;
  for (let count = 0; count < tries && low <= high; count += 1) {
    const middle = Math.floor((low + high) / 2);
    const made = await encode(middle, directory);
    const { size } = await stat(made.path);
    smallest = Math.min(smallest, size);
    if (size > maxBytes) {
      high = middle - 1;
      continue;
    }
    low = middle + 1;
    await rename(made.path, encoded.path);
    best = { ...made, path: encoded.path };
  }
  await rm(directory, { recursive: true });
  if (best === undefined) throw tooManyBytes(encoded.fileName, maxBytes, smallest);
  return best;
};
