/**
 * Turns what TypeBox says of a value into one plain sentence per mistake: the loader says them of flow files, the
 * engine of start parameters, engine and workers of options whose templates have been expanded.
 */
import type { TSchema } from 'typebox';
import { Settings } from 'typebox/system';
import { Value } from 'typebox/value';

type SchemaError = ReturnType<typeof Value.Errors>[number];

/** Keys and indices, from the outside in. */
type Path = readonly (string | number)[];

/** A mistake: `about` is the key that is unknown or missing, if that is the mistake. */
export interface SchemaProblem {
  readonly path: Path;
  readonly about?: { readonly is: 'unknown' | 'missing'; readonly key: string; readonly known?: readonly string[] };
  readonly message: string;
}

/** `unknown option "widht"; known: width, height`, `option "width" is missing`, `option "width" must be integer`. */
export const phraseProblem = ({ about, message }: SchemaProblem, noun: string, path: Path): string => {
  if (about === undefined) return path.length === 0 ? message : `${noun} "${path.join('.')}" ${message}`;
  const name = about.is === 'unknown' ? path.join('.') : [...path, about.key].join('.');
  if (about.is === 'missing') return `${noun} "${name}" is missing`;
  return `unknown ${noun} "${name}"; known: ${about.known?.join(', ') ?? ''}`;
};

/** TypeBox stops at 8 errors by default; a flow file has all its mistakes reported at once. */
const maxErrors = 1000;

const allErrors = (schema: TSchema, value: unknown): SchemaError[] => {
  const before = Settings.Get().maxErrors;
  Settings.Set({ maxErrors });
  try {
    return Value.Errors(schema, value);
  } finally {
    Settings.Set({ maxErrors: before });
  }
};

/** The mistakes in `value`, a value of parsed JSON. */
export const schemaProblems = (schema: TSchema, value: unknown): SchemaProblem[] => {
  const errors = allErrors(schema, value);
  const unions = errors.filter((error) => error.keyword === 'anyOf');
  const insideUnion = (error: SchemaError) =>
    unions.some((union) => error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`));
  return errors
    .filter((error) => !insideUnion(error))
    .flatMap((error) => describe(error, schema, value, error.keyword === 'anyOf' ? errors : []));
};

const describe = (
  error: SchemaError,
  schema: TSchema,
  value: unknown,
  others: readonly SchemaError[],
): SchemaProblem[] => {
  const path = toPath(error.instancePath, value);
  switch (error.keyword) {
    // Each unknown key is also an error of its own, the keyword `boolean`, which has the path of the key.
    case 'additionalProperties':
      return [];
    case 'boolean':
      return [unknownKey(path, parentSchema(schema, error.schemaPath))];
    case 'required':
      return error.params.requiredProperties.map((key) => ({
        path,
        about: { is: 'missing', key },
        message: 'missing',
      }));
    case 'anyOf':
      return [{ path, message: alternatives(error, others) }];
    default:
      return [{ path, message: sentence(error) }];
  }
};

const unknownKey = (path: Path, parent: SchemaObject): SchemaProblem => {
  const key = String(path.at(-1));
  const pattern = Object.keys(parent['patternProperties'] ?? {})[0];
  if (pattern !== undefined) return { path, message: `the key must match ${pattern}` };
  const known = Object.keys(parent['properties'] ?? {});
  return { path, about: { is: 'unknown', key, known }, message: 'unknown' };
};

/** What the branches of a union wanted: `must be one of "webp", "avif"`, or their sentences joined. */
const alternatives = (union: SchemaError, errors: readonly SchemaError[]): string => {
  const inside = errors.filter(
    (error) => error.instancePath === union.instancePath && error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`),
  );
  // A literal of another type fails twice, as a type too, which says nothing more.
  const literals = new Set(inside.filter(({ keyword }) => keyword === 'const').map(({ schemaPath }) => schemaPath));
  const branches = inside.filter(({ keyword, schemaPath }) => keyword !== 'type' || !literals.has(schemaPath));
  const allowed = branches.flatMap((error) => (error.keyword === 'const' ? [error.params.allowedValue] : []));
  if (branches.length > 0 && allowed.length === branches.length) return oneOf(allowed);
  const sentences = new Set(branches.filter((error) => error.keyword !== 'boolean').map(sentence));
  return sentences.size === 0 ? 'has none of the allowed forms' : [...sentences].join(', or ');
};

const sentence = (error: SchemaError): string => {
  if (error.keyword === 'const') return oneOf([error.params.allowedValue]);
  if (error.keyword === 'enum') return oneOf(error.params.allowedValues);
  return error.message;
};

const oneOf = (values: readonly unknown[]): string =>
  `must be ${values.length === 1 ? '' : 'one of '}${values.map((value) => JSON.stringify(value)).join(', ')}`;

const segments = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** A JSON Pointer as keys and indices of `value`. */
const toPath = (pointer: string, value: unknown): Path => {
  let inside = value;
  return segments(pointer).map((segment) => {
    const key = Array.isArray(inside) ? Number(segment) : segment;
    inside = (inside as Partial<Record<string | number, unknown>> | undefined)?.[key];
    return key;
  });
};

type SchemaObject = Partial<Record<string, unknown>>;

/** The schema that says `additionalProperties: false`, the last segment of `schemaPath`. */
const parentSchema = (schema: TSchema, schemaPath: string): SchemaObject => {
  let inside: SchemaObject | undefined = schema;
  for (const segment of schemaPath.split('/').slice(1, -1)) inside = inside?.[segment] as SchemaObject | undefined;
  return inside ?? {};
};
