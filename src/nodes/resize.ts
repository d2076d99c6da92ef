/** Makes a picture smaller, or larger where that is asked for. The format stays. */
import { type Static, Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import { hexColour, overWhite } from './image/colour.ts';
import { checkSides, writeImage } from './image/encode.ts';
import { imageGlobs, imageTypes, isAnimatable } from './image/format.ts';
import { keepMetadata } from './image/metadata.ts';
import { eachImage, type OpenImage } from './image/open.ts';
import { cropPositions, isSmart } from './image/position.ts';

/** The largest side of WebP, and of all that the service writes. */
const maxSide = 16_383;

const kernels = ['nearest', 'linear', 'cubic', 'mitchell', 'lanczos2', 'lanczos3', 'mks2013', 'mks2021'] as const;

const options = Type.Object(
  {
    width: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSide, description: 'Pixels' })),
    height: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSide, description: 'Pixels' })),
    fit: Type.Optional(
      Type.Enum(['cover', 'contain', 'fill', 'inside', 'outside'], {
        default: 'inside',
        description:
          'With both sides given: crop to them (cover), pad to them (contain), stretch (fill), or keep the proportions within them (inside) or around them (outside)',
      }),
    ),
    position: Type.Optional(
      Type.Enum(cropPositions, {
        default: 'centre',
        description:
          'Which part cover keeps, or where contain puts the picture; cover also knows the most detailed part (entropy) and the most striking one (attention)',
      }),
    ),
    kernel: Type.Optional(
      Type.Enum(kernels, { default: 'lanczos3', description: 'How pixels are computed from their neighbours' }),
    ),
    withoutEnlargement: Type.Optional(
      Type.Boolean({ default: true, description: 'Leave pictures as they are that are smaller already' }),
    ),
    background: Type.Optional(
      Type.String({
        pattern: hexColour,
        default: '#00000000',
        description: 'What contain pads with: #rgb, #rgba, #rrggbb or #rrggbbaa; over white in formats without alpha',
      }),
    ),
  },
  { additionalProperties: false },
);

export const resizeNode = defineNode({
  kind: 'resize',
  name: 'Resize',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  produces: (_options, incoming) => imageGlobs(incoming),
  check: ({ width, height }) =>
    width === undefined && height === undefined ? 'width or height must be given' : undefined,
  shrink: (given, size) => scaledSize(size, wantedOf(given)),
  run: (run) =>
    eachImage(run, async (image, index) => {
      const wanted = wantedOf(run.options);
      checkSides(image, resizedSize(image, wanted), run);
      const animated =
        image.frames > 1 && isAnimatable(image.format) && !(wanted.fit === 'cover' && isSmart(wanted.position));
      const padding = image.format === 'jpeg' && !run.intermediate ? overWhite(wanted.background) : wanted.background;
      const size = exactSize(image, wanted);
      const picture = image.decode(animated ? 'all' : 'first');
      // libvips would pad a grey picture with grey.
      const takesColour = wanted.fit === 'contain' && image.header.channels < 3;
      const resized = (takesColour ? picture.pipelineColourspace('srgb') : picture).resize({
        ...size,
        background: padding,
      });
      const pixels = keepMetadata(resized, image, run.intermediate ? 'all' : 'none');
      return writeImage(run, image, index, pixels, { format: image.format }, animated);
    }),
});

const wantedOf = (given: Static<typeof options>) =>
  ({
    fit: 'inside',
    position: 'centre',
    kernel: 'lanczos3',
    withoutEnlargement: true,
    background: '#00000000',
    ...given,
  }) as const;

/** Left to itself sharp is off by a pixel now and then, and it cannot know the whole of a picture that nodes share. */
const exactSize = (image: OpenImage, wanted: ReturnType<typeof wantedOf>) => {
  if (wanted.fit !== 'cover' && wanted.fit !== 'contain') {
    return { ...wanted, ...scaledSize(image, wanted), withoutEnlargement: false, fit: 'fill' } as const;
  }
  return image.file.whole === undefined ? wanted : { ...wanted, withoutEnlargement: false };
};

type Wanted = Pick<Static<typeof options>, 'width' | 'height'> & {
  readonly fit: string;
  readonly withoutEnlargement: boolean;
};

/** What sharp will make of it, in pixels, known before anything is decoded. */
export const resizedSize = (image: Pick<OpenImage, 'width' | 'height'>, wanted: Wanted) => {
  const { width, height, fit } = wanted;
  const scaled = scaledSize(image, wanted);
  if (fit === 'contain') return { width: width ?? scaled.width, height: height ?? scaled.height };
  if (fit !== 'cover' || width === undefined || height === undefined) return scaled;
  return { width: Math.min(width, scaled.width), height: Math.min(height, scaled.height) };
};

const scaledSize = (image: Pick<OpenImage, 'width' | 'height'>, { width, height, fit, withoutEnlargement }: Wanted) => {
  const across = width === undefined ? undefined : width / image.width;
  const down = height === undefined ? undefined : height / image.height;
  const both = [across, down].filter((scale) => scale !== undefined);
  const even = fit === 'cover' || fit === 'outside' ? Math.max(...both) : Math.min(...both);
  const limit = withoutEnlargement ? 1 : Number.POSITIVE_INFINITY;
  const side = (pixels: number, scale: number) => Math.max(1, Math.round(pixels * Math.min(scale, limit)));
  return {
    width: side(image.width, fit === 'fill' ? (across ?? 1) : even),
    height: side(image.height, fit === 'fill' ? (down ?? 1) : even),
  };
};
