/** The start parameters of a job, checked against what its flow says of them. */
import { ServiceError } from '../domain/errors.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import { type Params, strictParams, withDefaults } from '../domain/params.ts';
import { type SchemaProblem, schemaProblems } from '../ports/schema-problems.ts';

/** Problems that an answer lists; the first one is the message's first too. */
const maxProblems = 20;

/**
 * The parameters with their defaults; `undefined` for a flow that has none. Nothing is converted. Throws
 * `VALIDATION_ERROR`, which names each wrong field.
 */
export const readParams = (flow: FlowDefinition, given: Params | undefined): Params | undefined => {
  if (flow.params === undefined) {
    if (given === undefined || Object.keys(given).length === 0) return undefined;
    throw invalid([{ field: 'body.params', message: `is not taken: flow "${flow.flowId}" has no params` }]);
  }
  const params = withDefaults(flow.params, given ?? {}) as Params;
  const problems = schemaProblems(strictParams(flow.params), params).map(fieldOf);
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems));
  return params;
};

interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

const fieldOf = ({ path, about, message }: SchemaProblem): FieldProblem => {
  const names = about?.is === 'missing' ? [...path, about.key] : path;
  const field = ['body.params', ...names].join('.');
  if (about === undefined) return { field, message };
  if (about.is === 'missing') return { field, message: 'is missing' };
  return { field, message: `is not a known field; known: ${about.known?.join(', ')}` };
};

const invalid = (problems: readonly FieldProblem[]): ServiceError => {
  const text = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new ServiceError('VALIDATION_ERROR', text, { details: { field: problems[0]?.field, problems } });
};
