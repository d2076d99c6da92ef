/** Puts a picture or a text over pictures: one that comes by the input `overlay`, one of the storage, or a text. */
import { type Static, Type } from 'typebox';
import { assetKey } from '../domain/asset.ts';
import { ServiceError } from '../domain/errors.ts';
import { defineNode, type NodeRun } from '../ports/node.ts';
import { alphaOf, hexColour } from './image/colour.ts';
import { checkSides, writeImage } from './image/encode.ts';
import { imageGlobs, imageTypes, isAnimatable } from './image/format.ts';
import { keepMetadata } from './image/metadata.ts';
import { eachImage } from './image/open.ts';
import { fade, type Overlay, putOver, type Size, scalePicture } from './watermark/overlay.ts';
import { drawText, maxTextLength, textProblem } from './watermark/text.ts';

const gravities = [
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
  'north',
  'northeast',
  'east',
  'centre',
] as const;

/** Those that leave the picture where the overlay is not. */
const blends = [
  'over',
  'multiply',
  'screen',
  'overlay',
  'darken',
  'lighten',
  'color-dodge',
  'color-burn',
  'hard-light',
  'soft-light',
  'difference',
  'exclusion',
  'add',
] as const;

const percent = '^(100|[0-9]{1,2})(\\.[0-9]{1,3})?%$';
const place = (side: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 16_383 }), Type.String({ pattern: percent })], {
      description: `Pixels from the ${side}, or percent of the picture such as "5%", in place of gravity; the overlay never leaves the picture`,
    }),
  );

const options = Type.Object(
  {
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxTextLength,
        description:
          'A text as the overlay, in DejaVu Sans, which comes with the service: Latin, Greek, Cyrillic, Arabic, Hebrew, no Chinese, Japanese or Korean. Of text, image and an edge to the input overlay there must be exactly one',
      }),
    ),
    image: Type.Optional(
      Type.String({
        pattern: assetKey,
        description:
          "A picture as the overlay: its key in the job's storage, which begins with assets/; in the embedded one it is a file below DATA_DIR/files/assets",
      }),
    ),
    gravity: Type.Optional(
      Type.Enum(gravities, { default: 'southeast', description: 'Which side or corner the overlay is put to' }),
    ),
    left: place('left'),
    top: place('top'),
    scale: Type.Optional(
      Type.Number({
        minimum: 0.001,
        maximum: 1,
        default: 0.2,
        description: 'Width of the overlay as a share of that of the picture; smaller where it would be too high',
      }),
    ),
    opacity: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, default: 1, description: '1: nothing shows through' }),
    ),
    tile: Type.Optional(Type.Boolean({ default: false, description: 'Repeat the overlay over the whole picture' })),
    blend: Type.Optional(
      Type.Enum(blends, { default: 'over', description: 'How the overlay and the picture become one' }),
    ),
    color: Type.Optional(
      Type.String({
        pattern: hexColour,
        default: '#ffffff',
        description: 'Of the text: #rgb, #rgba, #rrggbb or #rrggbbaa',
      }),
    ),
    fontSize: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 2000 }), Type.String({ pattern: percent })], {
        description:
          'Of the text, in place of scale: pixels, or percent of the height of the picture such as "5%"; smaller where the text would not fit',
      }),
    ),
  },
  { additionalProperties: false },
);

type Options = Static<typeof options>;

export const watermarkNode = defineNode({
  kind: 'watermark',
  name: 'Watermark',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  inputHandles: ['overlay'],
  instead: { overlay: ['text', 'image'] },
  produces: (_options, incoming) => imageGlobs(incoming),
  assets: ({ image }) => (image === undefined ? {} : { overlay: image }),
  check: (options) => sourceProblem(options) ?? placeProblem(options) ?? staticTextProblem(options),
  run: async (run) => {
    const source = await findSource(run);
    return eachImage(run, async (image, index) => {
      checkSides(image, image, run);
      const { gravity = 'southeast', left, top, tile = false, blend = 'over' } = run.options;
      const placement = {
        gravity,
        tile,
        blend,
        ...(left !== undefined && { left }),
        ...(top !== undefined && { top }),
      };
      const animated = image.frames > 1 && isAnimatable(image.format);
      const base = image.decode(animated ? 'all' : 'first');
      const marked = await putOver(base, image, await source(image), placement, animated);
      // Compositing gives every picture an alpha channel.
      const pixels = image.header.hasAlpha ? marked : marked.removeAlpha();
      const kept = keepMetadata(pixels, image, run.intermediate ? 'all' : 'none');
      return writeImage(run, image, index, kept, { format: image.format }, animated);
    });
  },
});

/** Makes the overlay for a picture of that size. */
type Source = (base: Size) => Promise<Overlay>;

const findSource = async (run: NodeRun<Options>): Promise<Source> => {
  const overlays = run.files.filter((file) => file.handle === 'overlay').map(({ handle: _, ...file }) => file);
  const opening = { ...run, files: overlays.slice(0, 1), progress: () => {} };
  const [picture] = await eachImage(opening, async (image) => image);
  const { text, scale = 0.2, opacity = 1 } = run.options;
  if (picture !== undefined && text !== undefined) {
    throw new ServiceError('INVALID_PARAMS', 'text is given, and an overlay too: one of them must go');
  }
  if (picture !== undefined) return async (base) => fade(await scalePicture(picture, base, scale), opacity);
  if (text !== undefined) return (base) => textOver(base, { ...run.options, text });
  throw new ServiceError('MISSING_INPUT', 'Nothing has come by the input "overlay", and there is no text or image', {
    details: { handle: 'overlay' },
  });
};

const textOver = async (base: Size, given: Options & { readonly text: string }): Promise<Overlay> => {
  const { text, scale = 0.2, opacity = 1, color = '#ffffff', fontSize } = given;
  const letterSize = (measured: Size & { readonly letters: number }) => {
    if (fontSize === undefined) return (measured.letters * base.width * scale) / measured.width;
    return typeof fontSize === 'number' ? fontSize : (Number.parseFloat(fontSize) / 100) * base.height;
  };
  // Without space around it a text sticks to the edge, and to itself when it is repeated; left and top say where it is.
  const margin = given.left === undefined && given.top === undefined ? 0.5 : 0;
  const drawn = await drawText({ text, color, letterSize, margin }, base);
  return fade(drawn, opacity * alphaOf(color));
};

const sourceProblem = ({ text, color, fontSize, scale }: Options): string | undefined => {
  if (text === undefined && color !== undefined) return 'color is for a text';
  if (text === undefined && fontSize !== undefined) return 'fontSize is for a text';
  if (fontSize !== undefined && scale !== undefined) return 'fontSize takes the place of scale: give one of them';
  return undefined;
};

const placeProblem = ({ gravity, left, top, tile }: Options): string | undefined => {
  const name = left === undefined ? 'top' : 'left';
  if (left === undefined && top === undefined) return undefined;
  if (tile) return `${name} has no meaning with tile`;
  return gravity === undefined ? undefined : `${name} takes the place of gravity: give one of them`;
};

/** A template is filled in for each file, and what comes of it looked at then. */
const staticTextProblem = ({ text }: Options): string | undefined => {
  const problem = text === undefined || text.includes('{{') ? undefined : textProblem(text);
  return problem && `text ${problem}`;
};
