/** Encodes a picture anew for fewer bytes, and takes out what people do not know to be in it. */
import { type Static, Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import { checkSides, defaultQuality, type Encoding, maxAvifEffort, writeImage } from './image/encode.ts';
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
  check: ({ format, lossless = false, effort = 0 }) => {
    if (lossless && format === 'jpeg') return 'lossless is not possible in jpeg';
    if (format === 'avif' && effort > maxAvifEffort) return `effort of avif is at most ${maxAvifEffort}`;
    return undefined;
  },
  run: (run) =>
    eachImage(run, async (image, index) => {
      const encoding = encodingOf(image, run.options);
      checkSides(image, image, run, encoding.format);
      const animated = image.frames > 1 && isAnimatable(encoding.format);
      const { metadata = 'none', keepIfLarger = 'original' } = run.options;
      const pixels = keepMetadata(image.decode(animated ? 'all' : 'first'), image, metadata);
      const encoded = await writeImage(run, image, index, pixels, encoding, animated);
      if (run.intermediate || keepIfLarger === 'encoded') return encoded;
      return (await isBetterKept(image, encoded, metadata)) ? keepOriginal(image, encoded) : encoded;
    }),
});

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
