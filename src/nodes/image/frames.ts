/**
 * libvips holds an animation as one tall picture, frame under frame. What only looks at single pixels, or scales, can
 * be done to all at once; what turns, or mixes neighbours, is done frame by frame.
 */
import type { Sharp } from 'sharp';
import { keepDescription } from './metadata.ts';
import { loadSharp, type OpenImage } from './open.ts';

const unpacked = { compression: 'none', compressionLevel: 0 } as const;

/** From the file itself: bare pixels have no EXIF, and the whole takes it from its first frame. */
const firstFrame = (image: OpenImage, channels: number): Sharp => {
  const frame = image.decode('first');
  return channels === 4 ? frame.ensureAlpha() : frame.removeAlpha();
};

/** Does `work` to each frame of the animation and puts them together again, with their times. */
export const everyFrame = async (image: OpenImage, work: (frame: Sharp) => Promise<Sharp>): Promise<Sharp> => {
  const sharp = await loadSharp();
  const { data, info } = await image.decode('all').raw().toBuffer({ resolveWithObject: true });
  const { width, channels } = info;
  const raw = { width, height: info.height / image.frames, channels };
  const size = data.length / image.frames;
  const frames: Buffer[] = [];
  for (let at = 0; at < data.length; at += size) {
    // The quickest files that can be joined; TIFF holds no EXIF.
    if (at === 0)
      frames.push(
        await keepDescription(await work(firstFrame(image, channels)))
          .png(unpacked)
          .toBuffer(),
      );
    else frames.push(await (await work(sharp(data.subarray(at, at + size), { raw }))).tiff(unpacked).toBuffer());
  }
  // The encoder that comes later keeps the times; they are the same options for both formats.
  const { delay, loop } = image.header;
  return sharp(frames, { join: { animated: true } }).gif({
    ...(delay && { delay }),
    ...(loop !== undefined && { loop }),
  });
};
