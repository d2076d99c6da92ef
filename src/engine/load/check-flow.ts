/**
 * Checks one definition, whatever it came from (DESIGN 4): shape, kinds, options, edges, graph and media types. All of
 * its problems are found at once.
 */
import type { Static } from 'typebox';
import type { FlowDefinition } from '../../domain/flow.ts';
import type { ParamsSchema } from '../../domain/params.ts';
import type { NodeKinds } from '../../ports/node.ts';
import { phraseProblem, type SchemaProblem, schemaProblems } from '../../ports/schema-problems.ts';
import { graphProblems } from './check-graph.ts';
import { optionProblems } from './check-options.ts';
import { paramsProblems } from './check-params.ts';
import { findKind, isFields, readGraph } from './flow-graph.ts';
import { FlowLoadError, type Problem, placeProblems } from './flow-problem.ts';
import { flowShape } from './flow-schema.ts';
import { callSitesOf, locateCallSites, toPlain } from './plain-flow.ts';

/** A definition, or its problems. */
export type Checked =
  | { readonly definition: FlowDefinition; readonly problems?: never }
  | { readonly problems: readonly Problem[] };

/**
 * Checks a definition that a program made, with `defineFlow` or by hand, and gives it back as plain data. Throws a
 * `FlowLoadError` that names the line of the constructor where there was one.
 */
export const checkFlow = (definition: unknown, kinds: NodeKinds): FlowDefinition => {
  const name = isFields(definition) ? JSON.stringify(definition['flowId']) : 'definition';
  const locate = locateCallSites(callSitesOf(definition), { file: `flow ${name}` });
  const { value, problem } = toPlain(definition);
  const checked = problem === undefined ? checkDefinition(value, kinds) : { problems: [problem] };
  if (checked.problems !== undefined) throw new FlowLoadError(placeProblems(checked.problems, locate));
  return checked.definition;
};

/** Checks a value of parsed JSON; `$schema` is dropped. */
export const checkDefinition = (value: unknown, kinds: NodeKinds): Checked => {
  const shape = schemaProblems(flowShape, value).map(shapeProblem);
  const params = isFields(value) ? value['params'] : undefined;
  const wrongParams = paramsProblems(params);
  // Templates of wrong parameters are not looked at: they are right once the parameters are.
  const known = wrongParams.length > 0 ? anyParams : (params as ParamsSchema | undefined);
  const perNode = nodeEntries(value).map(([nodeId, node]) => nodeProblems(nodeId, node, kinds, known));
  const broken = new Set(perNode.flatMap((found) => found.flatMap(({ node }) => node ?? [])));
  const graph = graphProblems(readGraph(value, kinds), broken);
  const problems = [...shape, ...wrongParams, ...perNode.flat(), ...graph];
  if (problems.length > 0) return { problems };
  // The schema and the checks above have just shown that it is one.
  const { $schema: _, ...definition } = value as Static<typeof flowShape>;
  return { definition };
};

const nodeEntries = (value: unknown) =>
  Object.entries(isFields(value) && isFields(value['nodes']) ? value['nodes'] : {});

const anyParams: ParamsSchema = { type: 'object', additionalProperties: true };

/** The kind and the options of a node. */
const nodeProblems = (nodeId: string, node: unknown, kinds: NodeKinds, params: ParamsSchema | undefined): Problem[] => {
  if (!isFields(node) || typeof node['type'] !== 'string') return [];
  const kind = findKind(kinds, node['type']);
  if (kind === undefined) {
    const message = `unknown type "${node['type']}"; known: ${Object.keys(kinds).join(', ')}`;
    return [{ path: ['nodes', nodeId, 'type'], node: nodeId, message }];
  }
  const options = node['options'] ?? {};
  return isFields(options) ? optionProblems(options, kind, params).map((found) => atOptions(nodeId, found)) : [];
};

const atOptions = (node: string, { path, message }: Problem): Problem => ({
  path: ['nodes', node, 'options', ...path],
  node,
  message,
});

/** A mistake in the shape, said of the node or edge that it is in. */
const shapeProblem = (problem: SchemaProblem): Problem => {
  const [part, key, ...rest] = problem.path;
  if (part === 'nodes' && key !== undefined) {
    return { path: problem.path, node: String(key), message: phraseProblem(problem, 'key', rest) };
  }
  if (part === 'edges' && key !== undefined) {
    return { path: problem.path, message: `edge ${Number(key) + 1}: ${phraseProblem(problem, 'key', rest)}` };
  }
  return { path: problem.path, message: phraseProblem(problem, 'key', problem.path) };
};
