/** Brings what several edges deliver together: as one list of files, or as one file. */
import { type Static, Type } from 'typebox';
import { defineNode } from '../ports/node.ts';
import type { WorkerFile } from '../ports/worker-pool.ts';
import { hexColour } from './image/colour.ts';
import { typeOf } from './image/format.ts';
import { anyBytes, writeConcat } from './merge/concat.ts';
import { writeSheet } from './merge/sheet.ts';

const side = { minimum: 1, maximum: 16_383 };

const options = Type.Object(
  {
    strategy: Type.Optional(
      Type.Enum(['append', 'first', 'images', 'concat'], {
        default: 'append',
        description:
          'append: all files, in the order of the edges in the flow. first: only those of the first edge that delivers. images: pictures side by side on one sheet. concat: the bytes one after the other in one file',
      }),
    ),
    direction: Type.Optional(
      Type.Enum(['horizontal', 'vertical'], { default: 'horizontal', description: 'images: in one row or one column' }),
    ),
    across: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'images: so many in a row, in place of direction' }),
    ),
    width: Type.Optional(
      Type.Integer({
        ...side,
        description: 'images: pixels of a cell, into which larger pictures are scaled; default: the widest',
      }),
    ),
    height: Type.Optional(
      Type.Integer({
        ...side,
        description: 'images: pixels of a cell, into which larger pictures are scaled; default: the highest',
      }),
    ),
    shim: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, default: 0, description: 'images: pixels between the cells' }),
    ),
    background: Type.Optional(
      Type.String({
        pattern: hexColour,
        default: '#00000000',
        description: 'images: what is left free: #rgb, #rgba, #rrggbb or #rrggbbaa; over white in jpeg',
      }),
    ),
    halign: Type.Optional(
      Type.Enum(['left', 'centre', 'right'], { default: 'centre', description: 'images: place in the cell' }),
    ),
    valign: Type.Optional(
      Type.Enum(['top', 'centre', 'bottom'], { default: 'centre', description: 'images: place in the cell' }),
    ),
    format: Type.Optional(
      Type.Enum(['png', 'jpeg', 'webp'], { default: 'png', description: 'images: the format of the sheet' }),
    ),
    quality: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'images: for jpeg and webp; default: 80' }),
    ),
    separator: Type.Optional(
      Type.String({ maxLength: 1000, description: 'concat: text between the files; default: none' }),
    ),
  },
  { additionalProperties: false },
);

type Options = Static<typeof options>;

export const mergeNode = defineNode({
  kind: 'merge',
  name: 'Merge',
  role: 'process',
  options,
  accepts: ['*/*'],
  produces: ({ strategy, format = 'png' }, incoming) => {
    if (strategy === 'images') return [typeOf(format)];
    if (strategy !== 'concat' || isOneType(incoming)) return incoming;
    return [...new Set([...incoming, anyBytes])];
  },
  check: (options) => foreignOption(options) ?? sheetProblem(options),
  pass: ({ strategy = 'append' }, files) => {
    if (strategy !== 'append' && strategy !== 'first') return undefined;
    const ordered = inOrder(files);
    const chosen = strategy === 'first' ? ordered.filter((file) => edgeOf(file) === edgeOf(ordered[0])) : ordered;
    return chosen.map((file) => ({ passes: files.indexOf(file) }));
  },
  run: async (run) => {
    const ordered = { ...run, files: inOrder(run.files) };
    const { strategy: _, separator, ...sheet } = run.options;
    return [
      run.options.strategy === 'images'
        ? await writeSheet({ ...ordered, options: sheet })
        : await writeConcat(ordered, separator),
    ];
  },
});

type Arrived = Pick<WorkerFile, 'edge'>;

const edgeOf = (file: Arrived | undefined): number => file?.edge ?? 0;

/** By the edges in the flow; those of one edge as they came. */
const inOrder = <File extends Arrived>(files: readonly File[]): readonly File[] =>
  files.toSorted((left, right) => edgeOf(left) - edgeOf(right));

/** All files that can come have the same type, so that what is made of them has it too. */
const isOneType = (globs: readonly string[]): boolean => globs.length === 1 && !globs[0]?.includes('*');

/** Every option but the strategy itself belongs to one strategy. */
const ownerOf = (name: string): Options['strategy'] => (name === 'separator' ? 'concat' : 'images');

const foreignOption = ({ strategy, ...given }: Options): string | undefined => {
  const foreign = Object.keys(given).find((name) => ownerOf(name) !== strategy);
  return foreign === undefined ? undefined : `${foreign} is an option of the strategy ${ownerOf(foreign)}`;
};

const sheetProblem = ({ direction, across, format = 'png', quality }: Options): string | undefined => {
  if (direction !== undefined && across !== undefined) return 'across takes the place of direction: give one of them';
  if (quality !== undefined && format === 'png') return 'quality is for jpeg and webp';
  return undefined;
};
