/**
 * Node kinds, what flows are made of: one file per kind, which describes it for the loader, the engine and the worker
 * and is the constructor of its nodes in flow files. `image/` holds what image kinds share. Kinds import domain and
 * ports only, and heavy libraries inside `run`: this registry is read by the server process. `plugins/` adds the kinds of
 * a deployment's own modules.
 *
 * From here the path goes to `workers`, where `run` is called.
 */
import { blurNode } from './blur.ts';
import { conditionalNode } from './conditional.ts';
import { convertNode } from './convert.ts';
import { cropNode } from './crop.ts';
import { inputNode } from './file-input.ts';
import { grayscaleNode } from './grayscale.ts';
import { mergeNode } from './merge.ts';
import { optimizeNode } from './optimize.ts';
import { outputNode } from './output.ts';
import { resizeNode } from './resize.ts';
import { rotateNode } from './rotate.ts';
import { watermarkNode } from './watermark.ts';

export {
  blurNode,
  conditionalNode,
  convertNode,
  cropNode,
  grayscaleNode,
  inputNode,
  mergeNode,
  optimizeNode,
  outputNode,
  resizeNode,
  rotateNode,
  watermarkNode,
};

/** The registry: every kind under its `kind`. */
export const kinds = {
  'file-input': inputNode,
  resize: resizeNode,
  crop: cropNode,
  rotate: rotateNode,
  convert: convertNode,
  optimize: optimizeNode,
  watermark: watermarkNode,
  blur: blurNode,
  grayscale: grayscaleNode,
  conditional: conditionalNode,
  merge: mergeNode,
  output: outputNode,
} as const;
