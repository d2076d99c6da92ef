/**
 * Writes a picture in the format asked for, plainly: what comes in is always encoded anew, without metadata. Where
 * fewer bytes are the aim, there is `optimize`.
 */
import { type Static, Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import { hexColour, overWhite } from './image/colour.ts';
import {
  checkSides,
  chromaSubsamplings,
  defaultEffort,
  defaultQuality,
  type Encoding,
  maxAvifEffort,
  writeImage,
} from './image/encode.ts';
import { imageTypes, targetFormats, typeOf } from './image/format.ts';
import { eachImage } from './image/open.ts';

const options = Type.Object(
  {
    format: Type.Enum(targetFormats, { description: 'What to write' }),
    quality: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: `jpeg, webp and avif; default: jpeg ${defaultQuality.jpeg}, webp ${defaultQuality.webp}, avif ${defaultQuality.avif}`,
      }),
    ),
    effort: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 6,
        description: `Time spent on fewer bytes: webp 0 to 6, default ${defaultEffort.webp}; avif 0 to ${maxAvifEffort}, default ${defaultEffort.avif}`,
      }),
    ),
    lossless: Type.Optional(Type.Boolean({ default: false, description: 'webp and avif: keep every pixel exactly' })),
    progressive: Type.Optional(
      Type.Boolean({ default: false, description: 'jpeg and png: show a coarse picture before all of it has arrived' }),
    ),
    chromaSubsampling: Type.Optional(
      Type.Enum(chromaSubsamplings, {
        default: '4:2:0',
        description: 'jpeg and avif: how finely colours are kept beside brightness; 4:4:4 is for text and drawings',
      }),
    ),
    background: Type.Optional(
      Type.String({
        pattern: hexColour,
        default: '#ffffff',
        description: 'jpeg: what shows where the picture is transparent: #rgb, #rgba, #rrggbb or #rrggbbaa',
      }),
    ),
    animated: Type.Optional(
      Type.Boolean({ default: false, description: 'webp: keep all frames of an animation, not only the first' }),
    ),
  },
  { additionalProperties: false },
);

type Options = Static<typeof options>;

export const convertNode = defineNode({
  kind: 'convert',
  name: 'Format Convert',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  produces: ({ format }) => [typeOf(format)],
  check: ({ format, lossless = false, effort = 0, animated = false }) => {
    if (lossless && format === 'jpeg') return 'lossless is not possible in jpeg';
    if (format === 'avif' && effort > maxAvifEffort) return `effort of avif is at most ${maxAvifEffort}`;
    if (animated && format !== 'webp') return 'animated is possible in webp only';
    return undefined;
  },
  run: (run) =>
    eachImage(run, async (image, index) => {
      const { format, animated = false } = run.options;
      checkSides(image, image, run, format);
      const moves = animated && format === 'webp' && image.frames > 1;
      const pixels = image.decode(moves ? 'all' : 'first');
      return writeImage(run, image, index, pixels, encodingOf(run.options), moves);
    }),
});

const encodingOf = ({ animated: _, background = '#ffffff', ...encoding }: Options): Encoding => ({
  ...encoding,
  // In `encode` a quality makes a palette of a png, and a background fills any format.
  ...(encoding.format === 'png' && { quality: undefined }),
  ...(encoding.format === 'jpeg' && { background: overWhite(background) }),
});
