/** Mistakes in conditions that a schema cannot express, found when the flow is loaded. */
import { paramProblem } from '../../domain/template.ts';
import type { FlowFacts } from '../../ports/node.ts';
import type { Condition } from './evaluate.ts';
import { isField, isParam, knownFields, paramPath } from './facts.ts';
import { numberOf } from './value.ts';

/** The first mistake, in words that begin with the option, or nothing. Parameters are only looked for in a `flow`. */
export const conditionProblem = (conditions: readonly Condition[], flow?: FlowFacts): string | undefined => {
  for (const [index, condition] of conditions.entries()) {
    const problem = problemOf(condition, flow);
    if (problem !== undefined) return `conditions.${index}.${problem}`;
  }
  return undefined;
};

const problemOf = ({ field, operator, value }: Condition, flow: FlowFacts | undefined): string | undefined => {
  if (!isField(field)) return `field: unknown field "${field}"; known: ${knownFields.join(', ')}, meta.*, params.*`;
  const wrongParam = flow && isParam(field) && paramProblem(flow.params, paramPath(field));
  if (wrongParam) return `field: "${field}": ${wrongParam}`;
  const what = value === undefined ? 'is missing' : wants[operator]?.(value);
  if (what === undefined || (value === undefined && operator === 'exists')) return undefined;
  return `value: ${operator} ${what}`;
};

type Value = NonNullable<Condition['value']>;

/** A template is only known for each file: what it gives is compared as it is. */
const isTemplate = (value: Value): boolean => typeof value === 'string' && value.includes('{{');

const wantsNumber = (value: Value) =>
  numberOf(value) === undefined && !isTemplate(value) ? 'needs a number, or a size such as "20mb"' : undefined;
const wantsList = (value: Value) => (Array.isArray(value) ? undefined : 'needs a list of values');
const wantsText = (value: Value) => (typeof value === 'string' ? undefined : 'needs a text');
const wantsOne = (value: Value) => (Array.isArray(value) ? 'needs one value; a list is for in and notIn' : undefined);
const wantsBoolean = (value: Value) => (typeof value === 'boolean' ? undefined : 'needs true or false');

/** What is wrong with the value of each operator. */
const wants: Readonly<Record<Condition['operator'], (value: Value) => string | undefined>> = {
  eq: wantsOne,
  ne: wantsOne,
  gt: wantsNumber,
  gte: wantsNumber,
  lt: wantsNumber,
  lte: wantsNumber,
  in: wantsList,
  notIn: wantsList,
  startsWith: wantsText,
  endsWith: wantsText,
  contains: wantsText,
  matches: wantsText,
  exists: wantsBoolean,
};
