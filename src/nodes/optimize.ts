/** Encodes a picture anew for fewer bytes, and takes out what people do not know to be in it. */
import { stat } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { defineNode, type NodeOutput, type NodeRun } from '../ports/node.ts';
import { checkSides, defaultQuality, type Encoding, maxAvifEffort, writeImage } from './image/encode.ts';
import { fitBytes } from './image/fit-bytes.ts';
import { imageGlobs, imageTypes, isAnimatable, targetFormats, typeOf } from './image/format.ts';
import { keepMetadata, metadataPolicies } from './image/metadata.ts';
import { eachImage, type OpenImage } from './image/open.ts';
import { isBetterKept, keepOriginal } from './image/original.ts';

const options = Type.Object(
  {
    format: Type.Optional(Type.Enum(targetFormats, { description: 'Default: the format of what comes in' })),
    quality: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: `Default: jpeg ${defaultQuality.jpeg}, webp ${defaultQuality.webp}, avif ${defaultQuality.avif}. With format png: reduce to a palette of this quality; else png stays exact`,
      }),
    ),
    effort: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 6,
        description: `Time spent on fewer bytes: webp 0 to 6, default 4; avif 0 to ${maxAvifEffort}, default 2`,
      }),
    ),
    lossless: Type.Optional(Type.Boolean({ default: false, description: 'webp and avif: keep every pixel exactly' })),
    progressive: Type.Optional(
      Type.Boolean({ default: false, description: 'jpeg and png: show a coarse picture before all of it has arrived' }),
    ),
    metadata: Type.Optional(
      Type.Enum(metadataPolicies, {
        default: 'none',
        description:
          'none: no EXIF (so no GPS position), XMP, IPTC; colours in sRGB. copyright: the EXIF fields Copyright and Artist stay. all: everything stays, with the colour profile',
      }),
    ),
    keepIfLarger: Type.Optional(
      Type.Enum(['original', 'encoded'], {
        default: 'original',
        description:
          'What to keep when the same format comes out larger. The original is only kept if it is upright, not animated differently, and carries no more metadata than allowed',
      }),
    ),
    maxBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Bytes that may be written: quality is the best, and a lower one is taken where that is needed, the best that six encodes find. Where none is low enough, or the format has none, the node fails with FILE_TOO_LARGE. Where another image node comes next, nothing is encoded here, and there is no limit',
      }),
    ),
  },
  { additionalProperties: false },
);

type Options = Static<typeof options>;

export const optimizeNode = defineNode({
  kind: 'optimize',
  name: 'Optimize',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  produces: ({ format }, incoming) => (format === undefined ? imageGlobs(incoming) : [typeOf(format)]),
  check: ({ format, lossless = false, effort = 0, maxBytes }) => {
    if (lossless && maxBytes !== undefined) return 'maxBytes is reached by quality, which lossless does not have';
    if (lossless && format === 'jpeg') return 'lossless is not possible in jpeg';
    if (format === 'avif' && effort > maxAvifEffort) return `effort of avif is at most ${maxAvifEffort}`;
    return undefined;
  },
  run: (run) =>
    eachImage(run, async (image, index) => {
      const encoding = encodingOf(image, run.options);
      checkSides(image, image, run, encoding.format);
      const animated = image.frames > 1 && isAnimatable(encoding.format);
      const { metadata = 'none' } = run.options;
      const write = (place: typeof run, quality = encoding.quality) => {
        const pixels = keepMetadata(image.decode(animated ? 'all' : 'first'), image, metadata);
        return writeImage(place, image, index, pixels, { ...encoding, quality }, animated);
      };
      const encoded = await write(run);
      return run.intermediate ? encoded : smaller(run, image, encoded, encoding, write);
    }),
});

type Write = (place: NodeRun<Options>, quality?: number) => Promise<NodeOutput>;

/** The original where it may stay, or else what has been encoded, within the limit of bytes. */
const smaller = async (
  run: NodeRun<Options>,
  image: OpenImage,
  encoded: NodeOutput,
  encoding: Encoding,
  write: Write,
): Promise<NodeOutput> => {
  const { metadata = 'none', keepIfLarger = 'original', maxBytes = Number.POSITIVE_INFINITY } = run.options;
  const mayKeep = keepIfLarger === 'original' && (await isBetterKept(image, encoded, metadata));
  const kept = mayKeep ? await keepOriginal(image, encoded) : encoded;
  if ((await stat(kept.path)).size <= maxBytes) return kept;
  const encode = (quality: number, directory: string) => write({ ...run, directory }, quality);
  return fitBytes({ encoded, below: bestQuality(encoding, run.options), maxBytes, encode, directory: run.directory });
};

/** What the first encode has had; nothing where the format has no quality. */
const bestQuality = ({ format, quality }: Encoding, asked: Options): number | undefined => {
  if (quality !== undefined) return quality;
  if (format === 'jpeg' || format === 'webp' || format === 'avif') return defaultQuality[format];
  // Exact so far: the best palette comes next.
  return asked.format === 'png' ? 101 : undefined;
};

const encodingOf = (image: OpenImage, { format, quality, effort, lossless, progressive }: Options): Encoding => ({
  format: format ?? image.format,
  // A palette is slow and changes colours: a png gets one when png was asked for, not because it is what came in.
  ...(format === undefined && image.format === 'png'
    ? {}
    : { quality: lossless && format === 'png' ? undefined : quality }),
  effort,
  lossless,
  progressive,
  thorough: true,
});
