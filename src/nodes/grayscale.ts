/** Takes the colour out of a picture: what is left is its brightness as the eye sees it. The format stays. */
import { Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import { checkSides, writeImage } from './image/encode.ts';
import { imageGlobs, imageTypes } from './image/format.ts';
import { keepDescription } from './image/metadata.ts';
import { eachImage } from './image/open.ts';

export const grayscaleNode = defineNode({
  kind: 'grayscale',
  name: 'Grayscale',
  role: 'process',
  pixels: true,
  options: Type.Object({}, { additionalProperties: false }),
  accepts: imageTypes,
  produces: (_options, incoming) => imageGlobs(incoming),
  run: (run) =>
    eachImage(run, async (image, index) => {
      checkSides(image, image, run);
      const animated = image.frames > 1;
      // One channel where the format has it: fewer bytes, and no tint by an encoder.
      const grey = image
        .decode(animated ? 'all' : 'first')
        .grayscale()
        .toColourspace('b-w');
      const pixels = run.intermediate ? keepDescription(grey) : grey;
      return writeImage(run, image, index, pixels, { format: image.format }, animated);
    }),
});
