/** Pictures for tests: what a camera would deliver, with corners that tell which way is up. */
import { createCipheriv } from 'node:crypto';
import sharp, { type Sharp, type SharpInput } from 'sharp';

export interface PhotoOptions {
  /** Pixels of the upright picture; with an orientation of 5 to 8 it is stored with its sides exchanged. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation; a phone held upright writes 6. */
  readonly orientation?: number;
  /** With a GPS position, as phones write it. */
  readonly gps?: boolean;
  /** Without detail and grain, so that a lossy format keeps all but all of it. */
  readonly smooth?: boolean;
  readonly type?: 'image/jpeg' | 'image/png' | 'image/webp' | 'image/avif' | 'image/tiff';
}

export const copyright = 'Ann Example (2026)';
export const artist = 'Ann Example';

/** Bytes that no encoder can foresee, the same in every run. */
const noise = (bytes: number): Buffer =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(bytes));

/** Random pixels, of `cell` pixels each, blended into one another. */
const cloud = (width: number, height: number, cell: number): Promise<Buffer> => {
  const raw = { width: Math.ceil(width / cell) + 1, height: Math.ceil(height / cell) + 1, channels: 3 } as const;
  return sharp(noise(raw.width * raw.height * 3), { raw })
    .resize(width, height, { fit: 'fill', kernel: 'cubic' })
    .raw()
    .toBuffer();
};

/** Soft shapes with some detail under a fine grain; red, lime, blue and white corners from the top left clockwise. */
const scene = async (width: number, height: number, smooth: boolean): Promise<Sharp> => {
  const shapes = await cloud(width, height, Math.ceil(width / 5));
  const detail = await cloud(width, height, Math.ceil(width / 80));
  const grain = noise(width * height);
  for (let index = 0; index < shapes.length; index += 1) {
    const uneven = ((detail[index] ?? 0) - 128) / 4 + ((grain[Math.floor(index / 3)] ?? 0) - 128) / 16;
    // Between 70 and 190, so that no pixel of the scene looks like a corner.
    shapes[index] = Math.max(70, Math.min(190, 70 + ((shapes[index] ?? 0) * 120) / 255 + (smooth ? 0 : uneven)));
  }
  return sharp(await withCorners(shapes, width, height), { raw: { width, height, channels: 3 } });
};

const withCorners = (pixels: Buffer, width: number, height: number): Promise<Buffer> => {
  const [w, h] = [Math.ceil(width / 10), Math.ceil(height / 10)];
  const patch = (background: string, left: number, top: number) => ({
    input: { create: { width: w, height: h, channels: 3 as const, background } },
    left,
    top,
  });
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .composite([
      patch('#ff0000', 0, 0),
      patch('#00ff00', width - w, 0),
      patch('#ffffff', 0, height - h),
      patch('#0000ff', width - w, height - h),
    ])
    .removeAlpha()
    .raw()
    .toBuffer();
};

/** How the upright picture lies in the file, so that the orientation brings it back. sharp flips before it rotates. */
const stored: Readonly<Record<number, (picture: Sharp) => Sharp>> = {
  2: (picture) => picture.flop(),
  3: (picture) => picture.rotate(180),
  4: (picture) => picture.flip(),
  5: (picture) => picture.flip().rotate(90),
  6: (picture) => picture.rotate(270),
  7: (picture) => picture.flop().rotate(90),
  8: (picture) => picture.rotate(90),
};

const position = {
  GPSLatitudeRef: 'N',
  GPSLatitude: '51/1 30/1 3230/100',
  GPSLongitudeRef: 'W',
  GPSLongitude: '0/1 7/1 4366/100',
};

/** Makes a picture with EXIF: orientation, author, and a position where `gps` asks for it. */
export const makePhoto = async (options: PhotoOptions): Promise<Buffer> => {
  const { width, height, orientation = 1, gps = false, smooth = false, type = 'image/jpeg' } = options;
  const picture = await scene(width, height, smooth);
  return (stored[orientation]?.(picture) ?? picture)
    .withMetadata({ orientation })
    .withExif({ IFD0: { Copyright: `${copyright} (x)`, Artist: artist }, ...(gps && { IFD3: position }) })
    .toFormat(type === 'image/jpeg' ? 'jpeg' : (type.slice('image/'.length) as 'png'), { quality: 90 })
    .toBuffer();
};

/** The colours of the four corners, from the top left clockwise; all frames of an animation count as one picture. */
export const cornersOf = async (input: SharpInput): Promise<readonly string[]> => {
  const { data, info } = await sharp(input).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const [right, bottom] = [info.width - 3, info.height - 3];
  return [colourAt(2, 2), colourAt(right, 2), colourAt(right, bottom), colourAt(2, bottom)];

  function colourAt(x: number, y: number): string {
    const at = (y * info.width + x) * info.channels;
    const bits = [...data.subarray(at, at + 3)].map((value) => (value > 200 ? 1 : value < 60 ? 0 : 2));
    return names[bits.join('')] ?? 'other';
  }
};

const names: Readonly<Record<string, string>> = { '100': 'red', '010': 'lime', '001': 'blue', '111': 'white' };

/** What `cornersOf` says of an upright photo. */
export const uprightCorners = ['red', 'lime', 'blue', 'white'];

/**
 * Whether the bytes hold a GPS directory: looks through all of them for a TIFF header behind `Exif`, and in its first
 * directory for the pointer 0x8825. Reads no format, so that it finds what a decoder would not show.
 */
export const hasGps = (bytes: Buffer): boolean => {
  for (let at = bytes.indexOf('Exif\0\0'); at >= 0; at = bytes.indexOf('Exif\0\0', at + 1)) {
    if (pointsToGps(bytes.subarray(at + 6))) return true;
  }
  return false;
};

const pointsToGps = (tiff: Buffer): boolean => {
  const order = tiff.toString('latin1', 0, 4);
  if (order !== 'II*\0' && order !== 'MM\0*') return false;
  const u16 = (at: number) => (order === 'II*\0' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const start = order === 'II*\0' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const tags = Array.from({ length: u16(start) }, (_, index) => u16(start + 2 + index * 12));
  return tags.includes(0x8825);
};
