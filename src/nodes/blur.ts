/** Blurs a picture, or parts of it beyond recognition. The format stays. */
import type { OverlayOptions, Sharp } from 'sharp';
import { type Static, Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import { type Area, lengthOption, offsetOption, pixelArea, withinPicture } from './image/area.ts';
import { checkSides, writeImage } from './image/encode.ts';
import { imageGlobs, imageTypes } from './image/format.ts';
import { everyFrame } from './image/frames.ts';
import { keepMetadata } from './image/metadata.ts';
import { eachImage, loadSharp, type OpenImage } from './image/open.ts';
import { gaussian, isQuick, soften } from './image/soften.ts';

const region = Type.Object(
  {
    left: offsetOption('Pixels, or percent such as "25%", from the left edge'),
    top: offsetOption('Pixels, or percent, from the top edge'),
    width: lengthOption('Pixels, or percent'),
    height: lengthOption('Pixels, or percent'),
  },
  { additionalProperties: false },
);

const options = Type.Object(
  {
    sigma: Type.Number({
      minimum: 0.3,
      maximum: 1000,
      description: 'How far colours run, in pixels: about half of what can no longer be told apart',
    }),
    regions: Type.Optional(
      Type.Array(region, {
        minItems: 1,
        maxItems: 100,
        description:
          'Blur only these parts, each {left, top, width, height} in pixels or percent; what lies outside of the picture is left away. Default: all of it',
      }),
    ),
  },
  { additionalProperties: false },
);

type Options = Static<typeof options>;

export const blurNode = defineNode({
  kind: 'blur',
  name: 'Blur',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  produces: (_options, incoming) => imageGlobs(incoming),
  run: (run) =>
    eachImage(run, async (image, index) => {
      checkSides(image, image, run);
      const animated = image.frames > 1;
      const blur = (picture: Sharp) => blurred(picture, image, run.options);
      // Before the parts are taken out, so that they have the colours of the rest.
      const kept = (picture: Sharp) => keepMetadata(picture, image, run.intermediate ? 'all' : 'none');
      const pixels = animated ? kept(await everyFrame(image, blur)) : await blur(kept(image.decode('first')));
      return writeImage(run, image, index, pixels, { format: image.format }, animated);
    }),
});

const blurred = async (picture: Sharp, image: OpenImage, { sigma, regions }: Options): Promise<Sharp> => {
  if (regions === undefined && isQuick(sigma)) return picture.blur(gaussian(sigma));
  const parts = regions ?? [{ left: 0, top: 0, width: image.width, height: image.height }];
  const areas = parts.flatMap((part) => withinPicture(pixelArea(part, image), image) ?? []);
  const covered = picture.composite(await overlaysOf(picture, areas, sigma));
  // `composite` adds transparency.
  return image.header.hasAlpha ? covered : covered.removeAlpha();
};

/** The blurred parts, each after a hole for it: through transparent ones the picture would still be seen. */
const overlaysOf = async (picture: Sharp, areas: readonly Area[], sigma: number): Promise<OverlayOptions[]> => {
  const sharp = await loadSharp();
  const { data, info } = await picture.clone().raw().toBuffer({ resolveWithObject: true });
  const { channels } = info;
  const raw = { width: info.width, height: info.height, channels };
  const overlays: OverlayOptions[] = [];
  for (const area of areas) {
    const { left, top, width, height } = area;
    const part = await soften(sharp(data, { raw }).extract(area), area, sigma);
    overlays.push(
      { input: { create: { width, height, channels: 4, background: '#000000' } }, left, top, blend: 'dest-out' },
      { input: await part.raw().toBuffer(), raw: { width, height, channels }, left, top },
    );
  }
  return overlays;
};
