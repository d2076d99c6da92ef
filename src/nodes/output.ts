/** Makes what arrives an output of the flow: it stays in the storage and is linked from the finished job. */
import { Type } from 'typebox';
import { defineNode } from '../ports/node.ts';

export const outputNode = defineNode({
  kind: 'output',
  name: 'Save to Storage',
  role: 'output',
  options: Type.Object({}, { additionalProperties: false }),
  accepts: ['*/*'],
  produces: (_options, incoming) => incoming,
  pass: (_options, files) => files.map((_file, index) => ({ passes: index })),
});
