/** Kinds of nodes that do what a test scripts, one for each thing that the engine can tell of a kind. */
import { Type } from 'typebox';
import { defineNode } from '../../src/ports/node.ts';

const scripted = {
  role: 'process',
  options: Type.Object({ name: Type.Optional(Type.String()) }, { additionalProperties: false }),
  accepts: ['*/*'],
  produces: (_options: unknown, incoming: readonly string[]) => incoming,
} as const;

/** Alone in its unit. */
const step = defineNode({ ...scripted, kind: 'step', name: 'Step' });

/** Shares a worker with those of its kind before and behind it. */
const pixel = defineNode({ ...scripted, kind: 'pixel', name: 'Pixel', pixels: true });

/** Shares what it reads with those of its kind beside it, too. */
const small = defineNode({
  ...scripted,
  kind: 'small',
  name: 'Small',
  pixels: true,
  shrink: (_options, size) => size,
});

/** Has a second way in. */
const mark = defineNode({ ...scripted, kind: 'mark', name: 'Mark', inputHandles: ['overlay'] });

/** Sends files whose names say `yes` one way, all others the other, without a look at their bytes. */
const route = defineNode({
  ...scripted,
  kind: 'route',
  name: 'Route',
  outputHandles: ['true', 'false'],
  pass: (_options, files) =>
    files.map(({ fileName }, passes) => ({ passes, handle: String(fileName.includes('yes')) })),
});

/** Hands everything on. */
const join = defineNode({
  ...scripted,
  kind: 'join',
  name: 'Join',
  pass: (_options, files) => files.map((_file, passes) => ({ passes })),
});

export const testKinds = { step, pixel, small, mark, route, join };
