/**
 * libvips holds an animation as one tall picture, frame under frame. What only looks at single pixels, or scales, can
 * be done to all at once; what turns, or mixes neighbours, is done frame by frame.
 */
import type { Sharp } from 'sharp';
import { loadSharp, type OpenImage } from './open.ts';

/** Does `work` to each frame of the animation and puts them together again, with their times. */
export const everyFrame = async (image: OpenImage, work: (frame: Sharp) => Promise<Sharp>): Promise<Sharp> => {
  const sharp = await loadSharp();
  const { data, info } = await image.decode('all').raw().toBuffer({ resolveWithObject: true });
  const { width, channels } = info;
  const raw = { width, height: info.height / image.frames, channels };
  const size = data.length / image.frames;
  const frames: Buffer[] = [];
  for (let at = 0; at < data.length; at += size) {
    const frame = await work(sharp(data.subarray(at, at + size), { raw }));
    // The quickest file that can be joined.
    frames.push(await frame.tiff({ compression: 'none' }).toBuffer());
  }
  // The encoder that comes later keeps the times; they are the same options for both formats.
  const { delay, loop } = image.header;
  return sharp(frames, { join: { animated: true } }).gif({
    ...(delay && { delay }),
    ...(loop !== undefined && { loop }),
  });
};
