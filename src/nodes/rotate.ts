/** Turns a picture upright, mirrors it, and turns it further. The format stays. */
import type { Sharp } from 'sharp';
import { Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import { hexColour, overWhite } from './image/colour.ts';
import { checkSides, writeImage } from './image/encode.ts';
import { imageGlobs, imageTypes } from './image/format.ts';
import { everyFrame } from './image/frames.ts';
import { keepMetadata } from './image/metadata.ts';
import { eachImage, type OpenImage } from './image/open.ts';

const options = Type.Object(
  {
    angle: Type.Optional(
      Type.Number({
        default: 0,
        description:
          'Degrees clockwise, after pictures of cameras have been turned upright. Other angles than multiples of 90 make the picture larger',
      }),
    ),
    background: Type.Optional(
      Type.String({
        pattern: hexColour,
        default: '#00000000',
        description:
          'What the corners are filled with: #rgb, #rgba, #rrggbb or #rrggbbaa; over white in formats without alpha',
      }),
    ),
    flip: Type.Optional(Type.Boolean({ default: false, description: 'Mirror top to bottom, before turning' })),
    flop: Type.Optional(Type.Boolean({ default: false, description: 'Mirror left to right, before turning' })),
  },
  { additionalProperties: false },
);

export const rotateNode = defineNode({
  kind: 'rotate',
  name: 'Rotate',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  produces: (_options, incoming) => imageGlobs(incoming),
  run: (run) =>
    eachImage(run, async (image, index) => {
      const { angle = 0, background = '#00000000', flip = false, flop = false } = run.options;
      checkSides(image, rotatedSize(image, angle), run);
      const corners = image.format === 'jpeg' && !run.intermediate ? overWhite(background) : background;
      const turn = (picture: Sharp) =>
        inColour(picture, image, angle)
          .flip(flip)
          .flop(flop)
          .rotate(angle % 360, { background: corners });
      const animated = image.frames > 1;
      const turned = animated ? await everyFrame(image, async (frame) => turn(frame)) : turn(image.decode('first'));
      const pixels = keepMetadata(turned, image, run.intermediate ? 'all' : 'none');
      return writeImage(run, image, index, pixels, { format: image.format }, animated);
    }),
});

/** libvips would fill the corners of a grey picture with grey. */
const inColour = (picture: Sharp, { header }: OpenImage, angle: number): Sharp =>
  header.channels < 3 && angle % 90 !== 0 ? picture.pipelineColourspace('srgb') : picture;

/** What libvips will make of it, in pixels, known before anything is decoded. */
export const rotatedSize = ({ width, height }: Pick<OpenImage, 'width' | 'height'>, angle: number) => {
  const radians = ((angle % 360) * Math.PI) / 180;
  const [across, down] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return {
    width: Math.round(width * across + height * down),
    height: Math.round(width * down + height * across),
  };
};
