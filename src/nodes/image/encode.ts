/** The way out for every image kind: the encoders, their defaults, and the file that a picture becomes. */
import { join, parse } from 'node:path';
import type { Sharp } from 'sharp';
import { ServiceError } from '../../domain/errors.ts';
import { extensionOf } from '../../domain/media-type.ts';
import type { NodeOutput, NodeRun } from '../../ports/node.ts';
import { tooLarge } from './errors.ts';
import { type ImageFormat, typeOf } from './format.ts';
import type { OpenImage } from './open.ts';

/** 1 to 100. An AVIF of 50 looks about as good as a JPEG of 80. */
export const defaultQuality = { jpeg: 80, webp: 80, avif: 50 } as const;

/** sharp's own default for AVIF, 4, costs five times the time of 2 for a tenth of the bytes; above, it is minutes. */
export const defaultEffort = { webp: 4, avif: 2 } as const;
export const maxAvifEffort = 4;

/**
 * sharp's own default, 7, costs five times the time for a fourteenth of the bytes: three seconds a frame of 800 x 600
 * pixels, and animations have many.
 */
const gifEffort = 4;

/** How many pixels share a colour: four, or none. */
export const chromaSubsamplings = ['4:2:0', '4:4:4'] as const;

/** How a picture is written. What a format does not have is ignored. */
export interface Encoding {
  readonly format: ImageFormat;
  /** jpeg, webp, avif; for png: reduce to a palette of that quality. */
  readonly quality?: number | undefined;
  /** webp, avif. */
  readonly effort?: number | undefined;
  /** webp, avif. */
  readonly lossless?: boolean | undefined;
  /** jpeg, png. */
  readonly progressive?: boolean | undefined;
  /** jpeg, avif. Lossless AVIF has its own. */
  readonly chromaSubsampling?: (typeof chromaSubsamplings)[number] | undefined;
  /** A colour in place of transparency, in any format and in intermediates; jpeg takes white when there is none. */
  readonly background?: string | undefined;
  /** Spend more time on fewer bytes of the same quality: jpeg, png. */
  readonly thorough?: boolean | undefined;
}

const encoders: Readonly<Record<ImageFormat, (pixels: Sharp, encoding: Encoding) => Sharp>> = {
  jpeg: (pixels, encoding) => {
    const { quality = defaultQuality.jpeg, progressive = false, thorough = false } = encoding;
    const { chromaSubsampling = '4:2:0', background = '#ffffff' } = encoding;
    // JPEG has no transparency, and transparent pixels are black underneath.
    return pixels.flatten({ background }).jpeg({
      quality,
      progressive,
      chromaSubsampling,
      ...(thorough && { trellisQuantisation: true, overshootDeringing: true, quantisationTable: 3 }),
      ...(thorough && progressive && { optimiseScans: true }),
    });
  },
  png: (pixels, { quality, progressive = false, thorough = false }) =>
    pixels.png({
      progressive,
      adaptiveFiltering: true,
      compressionLevel: thorough ? 9 : 6,
      ...(quality !== undefined && { palette: true, quality }),
    }),
  webp: (pixels, { quality = defaultQuality.webp, effort = defaultEffort.webp, lossless = false }) =>
    pixels.webp({ quality, effort, lossless }),
  avif: (pixels, encoding) => {
    const { quality = defaultQuality.avif, effort = defaultEffort.avif, lossless = false } = encoding;
    if (effort > maxAvifEffort) throw new ServiceError('INVALID_PARAMS', `effort of avif is at most ${maxAvifEffort}`);
    const chromaSubsampling = lossless ? '4:4:4' : (encoding.chromaSubsampling ?? '4:2:0');
    return pixels.avif({ quality, effort, lossless, chromaSubsampling });
  },
  gif: (pixels) => pixels.gif({ effort: gifEffort }),
  tiff: (pixels) => pixels.tiff({ compression: 'deflate', predictor: 'horizontal' }),
};

/** Pixels on a side that a format can hold. */
const formatSides: Partial<Readonly<Record<ImageFormat, number>>> = { webp: 16_383, avif: 16_384, jpeg: 65_535 };

/** Refuses a picture whose sides are over the limit, of the service or of the format, before it is made. */
export const checkSides = (
  image: OpenImage,
  size: { readonly width: number; readonly height: number },
  run: Pick<NodeRun<unknown>, 'limits'>,
  format: ImageFormat = image.format,
): void => {
  const side = Math.max(size.width, size.height);
  const max = Math.min(run.limits.maxSide, formatSides[format] ?? Number.POSITIVE_INFINITY);
  if (side > max) throw tooLarge(image.file.fileName, 'side', max, side);
};

/**
 * Writes the pixels as file `index` of the run. Intermediates are not encoded: still pictures stay as they are in
 * memory, which costs a tenth of an encoder; animations, which only a format can hold, become lossless WebP.
 */
export const writeImage = async (
  run: Omit<NodeRun<unknown>, 'options'>,
  image: OpenImage,
  index: number,
  pixels: Sharp,
  encoding: Encoding,
  animated: boolean,
): Promise<NodeOutput> => {
  const mimeType = typeOf(encoding.format);
  const stem = join(run.directory, String(index));
  const { path, pipeline } = run.intermediate
    ? raw(stem, encoding.background ? pixels.flatten({ background: encoding.background }) : pixels, animated)
    : { path: `${stem}.${extensionOf(mimeType)}`, pipeline: encoders[encoding.format](pixels, encoding) };
  const { width, height, pageHeight, pages, hasAlpha } = await pipeline.toFile(path);
  const meta = {
    width,
    height: animated ? (pageHeight ?? height) : height,
    format: encoding.format,
    hasAlpha,
    pages: animated ? (pages ?? 1) : 1,
  };
  return { path, mimeType, fileName: renamed(image.file.fileName, mimeType), meta };
};

const raw = (stem: string, pixels: Sharp, animated: boolean) =>
  animated
    ? { path: `${stem}.webp`, pipeline: pixels.webp({ lossless: true, effort: 0 }) }
    : { path: `${stem}.v`, pipeline: pixels };

/** The name with the extension of the type. */
export const renamed = (fileName: string, mimeType: string): string =>
  `${parse(fileName).name}.${extensionOf(mimeType)}`;
