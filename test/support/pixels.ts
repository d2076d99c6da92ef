/** Pictures as rows of pixels, for results that can be worked out by hand. */
import sharp from 'sharp';

/** A PNG of one colour; without alpha for `#rrggbb`. */
export const plainPng = async (width: number, height: number, background: string) => ({
  bytes: await sharp({ create: { width, height, channels: background.length > 7 ? 4 : 3, background } })
    .png()
    .toBuffer(),
  mimeType: 'image/png',
});

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, alpha. */
  at(x: number, y: number): readonly number[];
}

/** All frames of an animation count as one tall picture. */
export const pixelsOf = async (bytes: Buffer, animated = false): Promise<Pixels> => {
  const picture = sharp(bytes, { animated }).toColourspace('srgb').ensureAlpha().raw();
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return { width, height, at: (x, y) => [...data.subarray((y * width + x) * 4, (y * width + x + 1) * 4)] };
};

/** The box around the pixels for which `isInk` holds, `[left, top, right, bottom]` with the last ones included. */
export const inkBox = (
  { width, height, at }: Pixels,
  isInk: (pixel: readonly number[]) => boolean,
): readonly number[] => {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (!isInk(at(x, y))) continue;
      [left, top] = [Math.min(left, x), Math.min(top, y)];
      [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
    }
  }
  return [left, top, right, bottom];
};
