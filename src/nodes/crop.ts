/** Cuts a part out of a picture, without scaling it. The format stays. */
import { type Static, Type } from 'typebox';
import { ServiceError } from '../domain/errors.ts';
import { defineNode } from '../ports/node.ts';
import { type Area, lengthOption, offsetOption, pixelArea, withinPicture } from './image/area.ts';
import { checkSides, writeImage } from './image/encode.ts';
import { imageGlobs, imageTypes } from './image/format.ts';
import { keepMetadata } from './image/metadata.ts';
import { eachImage, type OpenImage } from './image/open.ts';
import { cropPositions, isSmart } from './image/position.ts';

const options = Type.Object(
  {
    width: lengthOption('Pixels, or percent such as "25%"'),
    height: lengthOption('Pixels, or percent'),
    left: Type.Optional(offsetOption('Pixels, or percent, from the left edge; together with top')),
    top: Type.Optional(offsetOption('Pixels, or percent, from the top edge')),
    position: Type.Optional(
      Type.Enum(cropPositions, {
        default: 'centre',
        description:
          'Which part to keep, where left and top do not say it; entropy finds the most detailed one, attention the most striking one (of an animation, only the first frame is left then)',
      }),
    ),
    outside: Type.Optional(
      Type.Enum(['error', 'clamp'], {
        default: 'error',
        description: 'What to do where the picture is smaller: fail, or keep what there is',
      }),
    ),
  },
  { additionalProperties: false },
);

type Options = Static<typeof options>;

export const cropNode = defineNode({
  kind: 'crop',
  name: 'Crop',
  role: 'process',
  pixels: true,
  options,
  accepts: imageTypes,
  produces: (_options, incoming) => imageGlobs(incoming),
  check: ({ left, top, position }) => {
    if ((left === undefined) !== (top === undefined)) return 'left and top are given together';
    if (left !== undefined && position !== undefined) return 'position is not given beside left and top';
    return undefined;
  },
  run: (run) =>
    eachImage(run, async (image, index) => {
      const { left, position = 'centre' } = run.options;
      const area = croppedArea(image, run.options);
      checkSides(image, area, run);
      const animated = image.frames > 1 && (left !== undefined || !isSmart(position));
      const picture = image.decode(animated ? 'all' : 'first');
      const { width, height } = area;
      const cropped =
        left === undefined
          ? // `resize` is what knows positions; so it scales nothing.
            picture.resize({ width, height, fit: 'cover', position, withoutReduction: true })
          : picture.extract(area);
      const pixels = keepMetadata(cropped, image, run.intermediate ? 'all' : 'none');
      return writeImage(run, image, index, pixels, { format: image.format }, animated);
    }),
});

/** The part in pixels; where a position is to be found, at the corner. Refuses what `outside` does not allow. */
const croppedArea = (image: OpenImage, { left = 0, top = 0, width, height, outside = 'error' }: Options): Area => {
  const wanted = pixelArea({ left, top, width, height }, image);
  const kept = withinPicture(wanted, image);
  const isWhole = kept?.width === wanted.width && kept.height === wanted.height;
  if (kept === undefined || (outside === 'error' && !isWhole)) throw outsideOf(image, wanted);
  return kept;
};

const outsideOf = ({ file, width, height }: OpenImage, area: Area): ServiceError =>
  new ServiceError(
    'INVALID_PARAMS',
    `${file.fileName} is ${width} x ${height} pixels: ${area.width} x ${area.height} at ${area.left}, ${area.top} is not within it`,
    { details: { width, height, area } },
  );
