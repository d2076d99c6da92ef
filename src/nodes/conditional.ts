/** Sends each file one of two ways, by what is known of it. Pictures are only opened when their header is asked for. */
import { stat } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import type { Params } from '../domain/params.ts';
import { defineNode } from '../ports/node.ts';
import type { PassedFile, WorkerFile } from '../ports/worker-pool.ts';
import { conditionProblem } from './condition/check.ts';
import { evaluate, operators } from './condition/evaluate.ts';
import { type KnownFile, knownFields } from './condition/facts.ts';
import { readHeader } from './image/header.ts';

const text = Type.String({ maxLength: 1000 });
const scalar = [text, Type.Number(), Type.Boolean()] as const;

const fields = `${knownFields.join(', ')}, other meta.* that a node before has found, and params.*, what the job was started with`;

const condition = Type.Object(
  {
    field: Type.String({ description: fields }),
    operator: Type.Enum(operators),
    value: Type.Optional(Type.Union([...scalar, Type.Array(Type.Union([...scalar]), { minItems: 1, maxItems: 100 })])),
  },
  { additionalProperties: false },
);

const options = Type.Object(
  {
    conditions: Type.Array(condition, {
      minItems: 1,
      maxItems: 50,
      description: [
        `Each is {field, operator, value}. Fields: ${fields}. Operators: ${operators.join(', ')}`,
        'Numbers may have a unit: "20mb" (1 kB is 1000 bytes, 1 KiB is 1024). matches takes a glob, with * and ?',
        'Nothing is true of a field that the file does not have, except exists with the value false',
      ].join('. '),
    }),
    match: Type.Optional(
      Type.Enum(['all', 'any'], {
        default: 'all',
        description: 'How many conditions a file must fulfil to leave by the handle true; else it leaves by false',
      }),
    ),
  },
  { additionalProperties: false },
);

export const conditionalNode = defineNode({
  kind: 'conditional',
  name: 'Conditional',
  role: 'process',
  options,
  accepts: ['*/*'],
  outputHandles: ['true', 'false'],
  produces: (_options, incoming) => incoming,
  check: ({ conditions }, flow) => conditionProblem(conditions, flow),
  pass: (options, files, params) => {
    const passed = files.map((file, index) => decide(options, { ...file, params }, index));
    return passed.every((one) => one !== undefined) ? passed : undefined;
  },
  run: ({ options, files, params }) =>
    Promise.all(files.map((file, index) => lookAndDecide(options, file, index, params))),
});

type Options = Static<typeof options>;

/** `undefined`: the header of the picture must be read for it. */
const decide = ({ conditions, match = 'all' }: Options, file: KnownFile, passes: number): PassedFile | undefined => {
  const answer = evaluate(conditions, match, file);
  return answer === undefined ? undefined : { passes, handle: String(answer) };
};

const lookAndDecide = async (
  options: Options,
  file: WorkerFile,
  passes: number,
  params: Params,
): Promise<PassedFile> => {
  const known = { ...file, size: (await stat(file.path)).size, params };
  const atOnce = decide(options, known, passes);
  if (atOnce !== undefined) return atOnce;
  const meta = await readHeader(file);
  // What nodes before have said of the picture stands.
  const looked = { ...known, meta: { ...meta, ...file.meta }, looked: true };
  return { passes, handle: String(evaluate(options.conditions, options.match ?? 'all', looked) === true), meta };
};
