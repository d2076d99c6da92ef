/** What the header of a picture tells, without its pixels: no limit applies, for nothing is decoded. */
import type { JsonValue } from '../../domain/upload.ts';
import type { WorkerFile } from '../../ports/worker-pool.ts';
import { imageError } from './errors.ts';
import { loadSharp } from './open.ts';

/** Facts of the picture as it stands upright; nothing for a file that is none. What else goes wrong is thrown. */
export const readHeader = async (file: WorkerFile): Promise<{ readonly [key: string]: JsonValue }> => {
  const sharp = await loadSharp();
  try {
    // As strict as the kinds that read the pixels: they forgive more than sharp does by itself.
    const header = await sharp(file.path, { failOn: 'error', limitInputPixels: false }).metadata();
    return {
      width: header.autoOrient.width,
      height: header.autoOrient.height,
      pages: header.pages ?? 1,
      hasAlpha: header.hasAlpha,
      orientation: header.orientation ?? 1,
    };
  } catch (error) {
    const failure = imageError(error, file.fileName);
    if (failure.code === 'UNSUPPORTED_FORMAT' || failure.code === 'INVALID_INPUT') return {};
    throw failure;
  }
};
