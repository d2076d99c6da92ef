/** Pictures of every sort that comes in: a kind does to each what it does to all. */
import sharp, { type Sharp } from 'sharp';
import { makePhoto } from './photo.ts';

export interface Picture {
  readonly bytes: Buffer;
  readonly mimeType: string;
}

const [width, height] = [240, 180];

const shape = (colour: string, size: number) => ({
  create: { width: size, height: size, channels: 4 as const, background: colour },
});

/** Nowhere the same after a turn or a mirror, and partly, half or not at all transparent. */
const clear = (): Sharp =>
  sharp({ create: { width, height, channels: 4, background: '#00000000' } }).composite([
    { input: shape('#e0207080', 100), left: 60, top: 40 },
    { input: shape('#1040c0', 48), left: 20, top: 110 },
  ]);

export const transparent = async (): Promise<Picture> => ({
  bytes: await clear().png().toBuffer(),
  mimeType: 'image/png',
});

/** One picture of 240 x 180 pixels, once it is upright, by what is particular about the file. */
export const pictureSorts = async (): Promise<Readonly<Record<string, Picture>>> => {
  const edged = await makePhoto({ width, height, smooth: true, type: 'image/png' });
  // Lossy formats, written once more at their default quality, do not hold hard edges.
  const photo = await sharp(edged).blur(3).toBuffer();
  const as = async (change: (picture: Sharp) => Sharp, mimeType = 'image/png') => ({
    bytes: await change(sharp(photo)).toBuffer(),
    mimeType,
  });
  const turned = [1, 2, 3, 4, 5, 6, 7, 8].map(async (orientation) => {
    const bytes = await makePhoto({ width, height, smooth: true, orientation });
    return [`orientation ${orientation}`, { bytes, mimeType: 'image/jpeg' }] as const;
  });
  return {
    ...Object.fromEntries(await Promise.all(turned)),
    alpha: await transparent(),
    grey: await as((picture) => picture.toColourspace('b-w').png()),
    '16 bit': await as((picture) => picture.toColourspace('rgb16').png()),
    '16 bit grey': await as((picture) => picture.toColourspace('grey16').png()),
    CMYK: await as(
      (picture) => picture.toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }),
      'image/jpeg',
    ),
    'Display P3': await as((picture) => picture.withIccProfile('p3').png()),
    WebP: await as((picture) => picture.webp({ quality: 95 }), 'image/webp'),
    AVIF: await as((picture) => picture.avif({ quality: 90, effort: 0 }), 'image/avif'),
    TIFF: await as((picture) => picture.tiff(), 'image/tiff'),
  };
};

export const delays = [100, 200, 300];

/** Three frames, of which the second is transparent: what reaches over into a neighbour is seen. */
export const animation = async (format: 'gif' | 'webp' = 'gif'): Promise<Picture> => {
  const frames = ['#ff0000', '#00aa00', '#0000ff'].map((colour, index) =>
    sharp({ create: { width, height, channels: 4, background: index === 1 ? '#00000000' : '#ffffff' } })
      .composite([{ input: shape(colour, 60), left: 20 + 60 * index, top: 110 }])
      .png()
      .toBuffer(),
  );
  const joined = sharp(await Promise.all(frames), { join: { animated: true } });
  const moving = { delay: delays, loop: 2 };
  const written = format === 'gif' ? joined.gif(moving) : joined.webp({ ...moving, lossless: true });
  return { bytes: await written.toBuffer(), mimeType: `image/${format}` };
};

/** Each frame as a picture of its own. */
export const framesOf = async (bytes: Buffer): Promise<readonly Buffer[]> => {
  const { pages = 1 } = await sharp(bytes).metadata();
  return Promise.all(Array.from({ length: pages }, (_, page) => sharp(bytes, { page }).png().toBuffer()));
};
