/** Kinds for the tests of the loader, so that they do not change when the real ones do. */
import { Type } from 'typebox';
import { defineNode } from '../../../src/ports/node.ts';

const strict = { additionalProperties: false };

export const sourceNode = defineNode({
  kind: 'source',
  name: 'Source',
  role: 'input',
  accepts: [],
  options: Type.Object({ allowedMimeTypes: Type.Optional(Type.Array(Type.String())) }, strict),
  produces: (options, incoming) => options.allowedMimeTypes ?? incoming,
});

export const scaleNode = defineNode({
  kind: 'scale',
  name: 'Scale',
  role: 'process',
  accepts: ['image/*'],
  options: Type.Object(
    {
      width: Type.Optional(Type.Integer({ minimum: 1, maximum: 16383 })),
      height: Type.Optional(Type.Integer({ minimum: 1, maximum: 16383 })),
      fit: Type.Optional(Type.Union([Type.Literal('inside'), Type.Literal('cover')])),
      left: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]+%$' })])),
      region: Type.Optional(Type.Object({ top: Type.Integer() }, strict)),
    },
    strict,
  ),
  produces: (_options, incoming) => incoming,
  check: (options) =>
    options.width === undefined && options.height === undefined ? 'width or height is needed' : undefined,
});

export const encodeNode = defineNode({
  kind: 'encode',
  name: 'Encode',
  role: 'process',
  accepts: ['image/*'],
  options: Type.Object({ format: Type.Union([Type.Literal('webp'), Type.Literal('avif')]) }, strict),
  produces: (options) => [`image/${options.format}`],
});

export const readTextNode = defineNode({
  kind: 'read-text',
  name: 'Read Text',
  role: 'process',
  accepts: ['image/*', 'application/pdf'],
  options: Type.Object({}, strict),
  produces: () => ['text/plain'],
});

export const resultNode = defineNode({
  kind: 'result',
  name: 'Result',
  role: 'output',
  accepts: ['*/*'],
  options: Type.Object({}, strict),
  produces: (_options, incoming) => incoming,
});

export const chooseNode = defineNode({
  kind: 'choose',
  name: 'Choose',
  role: 'process',
  accepts: ['*/*'],
  options: Type.Object({}, strict),
  produces: (_options, incoming) => incoming,
  outputHandles: ['true', 'false'],
});

export const stampNode = defineNode({
  kind: 'stamp',
  name: 'Stamp',
  role: 'process',
  accepts: ['image/*'],
  options: Type.Object({}, strict),
  produces: (_options, incoming) => incoming,
  inputHandles: ['overlay'],
});

export const testKinds = {
  source: sourceNode,
  scale: scaleNode,
  encode: encodeNode,
  'read-text': readTextNode,
  result: resultNode,
  choose: chooseNode,
  stamp: stampNode,
};
