/** Checks what a flow says of its start parameters: the part of JSON Schema that `domain/params` describes. */
import { type TSchema, Type } from 'typebox';
import { type ParamSchema, strictParams, withDefaults } from '../../domain/params.ts';
import { phraseProblem, schemaProblems } from '../../ports/schema-problems.ts';
import { isFields } from './flow-graph.ts';
import type { Path, Problem } from './flow-problem.ts';

/** Objects in objects in objects: more is a mistake, or an attempt to fill the stack. */
const maxDepth = 5;

const strict = { additionalProperties: false };
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
const count = optional(Type.Integer({ minimum: 0 }));
const bound = optional(Type.Number());
/** As the keys of nodes: templates name parameters, and `__proto__` would be lost. */
const paramName = '^(?!__proto__$)[A-Za-z0-9_-]{1,64}$';

const described = {
  type: Type.String(),
  title: optional(Type.String()),
  description: optional(Type.String()),
  default: optional(Type.Unknown()),
  enum: optional(Type.Array(Type.Unknown(), { minItems: 1 })),
  examples: optional(Type.Array(Type.Unknown())),
};
const numbers = {
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: optional(Type.Number({ exclusiveMinimum: 0 })),
};

/** What a schema of each type may say; what is inside of it is looked at on its own. */
const shapes: Readonly<Record<string, TSchema>> = {
  string: Type.Object(
    { ...described, minLength: count, maxLength: count, pattern: optional(Type.String({ maxLength: 200 })) },
    strict,
  ),
  number: Type.Object({ ...described, ...numbers }, strict),
  integer: Type.Object({ ...described, ...numbers }, strict),
  boolean: Type.Object(described, strict),
  array: Type.Object(
    {
      ...described,
      items: optional(Type.Unknown()),
      minItems: count,
      maxItems: count,
    },
    strict,
  ),
  object: Type.Object(
    {
      ...described,
      properties: optional(
        Type.Record(Type.String({ pattern: paramName }), Type.Unknown(), { ...strict, maxProperties: 100 }),
      ),
      required: optional(Type.Array(Type.String())),
      additionalProperties: optional(Type.Boolean()),
    },
    strict,
  ),
};

/** The problems of the `params` of a flow. */
export const paramsProblems = (params: unknown): Problem[] => {
  if (params === undefined) return [];
  if (isFields(params) && params['type'] !== 'object') {
    return [
      { path: ['params', 'type'], message: 'params: the type must be "object": its properties are the parameters' },
    ];
  }
  return problemsOf(params, ['params']);
};

const problemsOf = (schema: unknown, path: Path): Problem[] => {
  const said = (message: string, at: Path = path): Problem => ({ path: at, message: `${path.join('.')}: ${message}` });
  if (path.length > 1 + 2 * maxDepth) return [said(`nests deeper than ${maxDepth} levels`)];
  if (!isFields(schema)) return [said('must be a JSON Schema, an object with a "type"')];
  const { type } = schema;
  const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) {
    return [said(`the type must be one of ${Object.keys(shapes).join(', ')}`, [...path, 'type'])];
  }
  const found = schemaProblems(shape, schema).map((problem) =>
    said(phraseProblem(problem, 'key', problem.path), [...path, ...problem.path]),
  );
  const inside = partsOf(schema).flatMap(([part, at]) => problemsOf(part, [...path, ...at]));
  const problems = [...found, ...inside];
  if (!isSound(schema, problems)) return problems;
  return valueProblems(schema).map(([at, message]) => said(message, [...path, ...at]));
};

/** Where the shapes have found nothing wrong with it, it is one. */
const isSound = (_schema: unknown, problems: readonly unknown[]): _schema is ParamSchema => problems.length === 0;

const partsOf = (schema: Record<string, unknown>): (readonly [part: unknown, at: Path])[] => {
  const items = schema['items'] === undefined ? [] : [[schema['items'], ['items']] as const];
  const properties = isFields(schema['properties']) ? schema['properties'] : {};
  return [...items, ...Object.entries(properties).map(([name, part]) => [part, ['properties', name]] as const)];
};

/** What a schema says of values that are no values of it, and names that nothing has. */
const valueProblems = (schema: ParamSchema): (readonly [at: Path, message: string])[] => {
  if (schema.type === 'string' && !isPattern(schema.pattern)) return [[['pattern'], 'the pattern is none']];
  const { default: fallback, enum: choices, examples, ...rest } = strictParams(schema);
  const whole = { ...rest, ...(choices === undefined ? {} : { enum: choices }) };
  return [
    ...unknownRequired(schema),
    ...(choices ?? []).flatMap((value, index) => misfits(rest, value, ['enum', index])),
    ...(fallback === undefined ? [] : misfits(whole, withDefaults(schema, fallback), ['default'])),
  ];
};

const isPattern = (pattern = ''): boolean => {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
};

const unknownRequired = (schema: ParamSchema): (readonly [at: Path, message: string])[] => {
  if (schema.type !== 'object') return [];
  const { properties = {}, required = [] } = schema;
  return required.flatMap((name, index) =>
    Object.hasOwn(properties, name) ? [] : [[['required', index], `"${name}" is none of the properties`] as const],
  );
};

const misfits = (schema: TSchema, value: unknown, at: Path): (readonly [at: Path, message: string])[] =>
  schemaProblems(schema, value).map((problem) => [
    at,
    phraseProblem(problem, at[0] === 'enum' ? 'value' : String(at[0]), problem.path),
  ]);
