/** Whether a file fulfils conditions, by what is known of it. The server process and the worker both decide here. */
import type { JsonValue } from '../../domain/upload.ts';
import { factOf, isFolded, type KnownFile } from './facts.ts';
import { matchesGlob, numberOf } from './value.ts';

export const operators = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'notIn',
  'startsWith',
  'endsWith',
  'contains',
  'matches',
  'exists',
] as const;

export interface Condition {
  readonly field: string;
  readonly operator: (typeof operators)[number];
  readonly value?: Scalar | readonly Scalar[];
}

type Scalar = string | number | boolean;

/** Fulfilled or not; `undefined` when that hangs on a header that has not been read. */
export const evaluate = (
  conditions: readonly Condition[],
  match: 'all' | 'any',
  file: KnownFile,
): boolean | undefined => {
  const answers = conditions.map((condition) => holds(condition, file));
  const decisive = match === 'any';
  if (answers.includes(decisive)) return decisive;
  return answers.includes(undefined) ? undefined : !decisive;
};

const holds = ({ field, operator, value = true }: Condition, file: KnownFile): boolean | undefined => {
  const fact = factOf(file, field);
  if (fact === 'unknown') return undefined;
  if (operator === 'exists') return (fact !== 'missing') === value;
  // Of what is not there nothing is true, not even that it differs.
  if (fact === 'missing') return false;
  const fold = isFolded(field) ? lower : (part: unknown) => part;
  return tests[operator](fact.value, Array.isArray(value) ? value.map(fold) : fold(value));
};

const lower = (part: unknown): unknown => (typeof part === 'string' ? part.toLowerCase() : part);

type Test = (fact: JsonValue, value: unknown) => boolean;

const equals: Test = (fact, value) =>
  typeof fact === 'number' ? numberOf(value) === fact : String(fact) === String(value);

const isOneOf: Test = (fact, value) => Array.isArray(value) && value.some((one) => equals(fact, one));

const numbers =
  (compare: (fact: number, value: number) => boolean): Test =>
  (fact, value) => {
    const limit = numberOf(value);
    return typeof fact === 'number' && limit !== undefined && compare(fact, limit);
  };

const texts =
  (compare: (fact: string, value: string) => boolean): Test =>
  (fact, value) =>
    typeof fact === 'string' && compare(fact, String(value));

const tests: Readonly<Record<Exclude<Condition['operator'], 'exists'>, Test>> = {
  eq: equals,
  ne: (fact, value) => !equals(fact, value),
  gt: numbers((fact, value) => fact > value),
  gte: numbers((fact, value) => fact >= value),
  lt: numbers((fact, value) => fact < value),
  lte: numbers((fact, value) => fact <= value),
  in: isOneOf,
  notIn: (fact, value) => !isOneOf(fact, value),
  startsWith: texts((fact, value) => fact.startsWith(value)),
  endsWith: texts((fact, value) => fact.endsWith(value)),
  contains: texts((fact, value) => fact.includes(value)),
  matches: texts(matchesGlob),
};
