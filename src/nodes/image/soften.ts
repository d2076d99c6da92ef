/** The Gaussian blur, as exact as can be seen, and of any width in about the same time. */
import type { BlurOptions, Sharp } from 'sharp';
import { loadSharp } from './open.ts';

/** Up to this sigma libvips is quick; 300 would take minutes for 12 megapixels. */
const quickSigma = 4;

/** Below this sigma the bell is too narrow to be put together from boxes, and quick to be computed exactly. */
const boxSigma = 2;

/** Whether the blur is one step of a pipeline: `gaussian` then is its option, and `soften` is not needed. */
export const isQuick = (sigma: number): boolean => sigma <= quickSigma;

/** sharp's defaults are quicker still, but cut the bell off at a fifth of its height and round: white turns grey. */
export const gaussian = (sigma: number): BlurOptions => ({
  sigma,
  minAmplitude: 0.02,
  precision: sigma < boxSigma ? 'float' : 'approximate',
});

/** Blurs pixels of the size given. What a wide blur leaves fits into fewer pixels, so it is done in those. */
export const soften = async (pixels: Sharp, size: { width: number; height: number }, sigma: number): Promise<Sharp> => {
  if (isQuick(sigma)) return pixels.blur(gaussian(sigma));
  const sharp = await loadSharp();
  const fewer = (side: number) => Math.max(1, Math.round((side * quickSigma) / sigma));
  const small = pixels.resize(fewer(size.width), fewer(size.height), { fit: 'fill' }).blur(gaussian(quickSigma));
  const { data, info } = await small.raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return sharp(data, { raw: { width, height, channels } }).resize(size.width, size.height, {
    fit: 'fill',
    kernel: 'cubic',
  });
};
