/**
 * The start parameters of a flow: what a flow says of them is JSON Schema, of which the part is taken that can be
 * checked at load and explained to whoever starts a job. `engine/load/check-params` refuses the rest.
 */
import type { JsonValue } from './upload.ts';

interface Described {
  readonly title?: string;
  readonly description?: string;
  /** Taken when the parameter is left out. */
  readonly default?: JsonValue;
  readonly enum?: readonly JsonValue[];
  readonly examples?: readonly JsonValue[];
}

export interface TextParam extends Described {
  readonly type: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

export interface NumberParam extends Described {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

export interface BooleanParam extends Described {
  readonly type: 'boolean';
}

export interface ListParam extends Described {
  readonly type: 'array';
  readonly items?: ParamSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface ObjectParam extends Described {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, ParamSchema>>;
  readonly required?: readonly string[];
  /** Whether others than `properties` are taken; default: no. */
  readonly additionalProperties?: boolean;
}

export type ParamSchema = TextParam | NumberParam | BooleanParam | ListParam | ObjectParam;

/** The parameters themselves are an object. */
export type ParamsSchema = ObjectParam;

/** The start parameters of a job. */
export type Params = { readonly [key: string]: JsonValue };

/** The schema of the parameter at a path; `any`: it may be there, and is what it is; `undefined`: it never is. */
export const paramAt = (schema: ParamSchema, path: readonly string[]): ParamSchema | 'any' | undefined => {
  const [name, ...rest] = path;
  if (name === undefined) return schema;
  const inside = stepInto(schema, name);
  return inside === undefined || inside === 'any' ? inside : paramAt(inside, rest);
};

const stepInto = (schema: ParamSchema, name: string): ParamSchema | 'any' | undefined => {
  if (schema.type === 'array') return /^\d+$/.test(name) ? (schema.items ?? 'any') : undefined;
  if (schema.type !== 'object') return undefined;
  const { properties = {}, additionalProperties = false } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties ? 'any' : undefined;
};

/** The schema as it is meant: objects take nothing that they do not name, unless they say so. */
export const strictParams = (schema: ParamSchema): ParamSchema => {
  if (schema.type === 'array') return schema.items ? { ...schema, items: strictParams(schema.items) } : schema;
  if (schema.type !== 'object') return schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, inside]) => [name, strictParams(inside)]);
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(properties) };
};

/** The value with the defaults of what it leaves out; an object that is left out has none of its parts. */
export const withDefaults = (schema: ParamSchema, value: JsonValue): JsonValue => {
  if (schema.type !== 'object' || !isObject(value)) return value;
  const completed = Object.entries(schema.properties ?? {}).flatMap(([name, inside]) => {
    const given = Object.hasOwn(value, name) ? value[name] : inside.default;
    return given === undefined ? [] : [[name, withDefaults(inside, given)] as const];
  });
  return { ...value, ...Object.fromEntries(completed) };
};

const isObject = (value: JsonValue): value is { readonly [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
