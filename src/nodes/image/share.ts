/** One decoding for several nodes that begin with the same picture. */
import { join } from 'node:path';
import type { PictureSize } from '../../ports/node.ts';
import type { WorkerFile, WorkerLimits } from '../../ports/worker-pool.ts';
import { typeOf } from './format.ts';
import { keepMetadata } from './metadata.ts';
import { type OpenImage, openImage } from './open.ts';

/** What one of the nodes needs of a picture of `size`; see `NodeDescription.shrink`. */
export type Need = (size: PictureSize) => PictureSize;

/**
 * The file as bare pixels, as large as the most demanding of the nodes needs it. The file itself where that is all of
 * it, where it is animated, and where it cannot be read: then the nodes say so, each under its own name.
 */
export const shareDecoding = async (
  file: WorkerFile,
  needs: readonly Need[],
  directory: string,
  limits: WorkerLimits,
): Promise<WorkerFile> => {
  const image = await openImage(file, limits).catch(() => undefined);
  if (image === undefined || image.frames > 1) return file;
  const size = largest(image, needs);
  if (size === undefined) return file;
  const path = join(directory, 'shared.v');
  try {
    const pixels = image.decode('first').resize({ ...size, fit: 'fill' });
    await keepMetadata(pixels, image, 'all').toFile(path);
  } catch {
    return file;
  }
  // Bare pixels tell no format: a picture of a type that kinds do not know, such as APNG, must not lose its own.
  return { ...file, path, mimeType: typeOf(image.format), whole: { width: image.width, height: image.height } };
};

/** In the proportions of the whole; `undefined`: nothing would be saved. */
const largest = ({ width, height }: OpenImage, needs: readonly Need[]): PictureSize | undefined => {
  const sizes = needs.map((need) => need({ width, height }));
  const scale = Math.max(...sizes.flatMap((size) => [size.width / width, size.height / height]));
  return scale < 1 ? { width: Math.ceil(width * scale), height: Math.ceil(height * scale) } : undefined;
};
