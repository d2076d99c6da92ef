/**
 * Checks one definition, whatever it came from (DESIGN 4): shape, kinds, options, edges, graph and media types. All of
 * its problems are found at once.
 */
import type { Static } from 'typebox';
import type { FlowDefinition } from '../../domain/flow.ts';
import type { NodeDescription, NodeKinds } from '../../ports/node.ts';
import { graphProblems } from './check-graph.ts';
import { findKind, isFields, readGraph } from './flow-graph.ts';
import { FlowLoadError, type Path, type Problem, placeProblems } from './flow-problem.ts';
import { flowShape, optionsSchema } from './flow-schema.ts';
import { callSitesOf, locateCallSites, toPlain } from './plain-flow.ts';
import { type SchemaProblem, schemaProblems } from './schema-problems.ts';

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
  const perNode = nodeEntries(value).map(([nodeId, node]) => nodeProblems(nodeId, node, kinds));
  const broken = new Set(perNode.flatMap((found) => found.flatMap(({ node }) => node ?? [])));
  const problems = [...shape, ...perNode.flat(), ...graphProblems(readGraph(value, kinds), broken)];
  if (problems.length > 0) return { problems };
  // The schema and the checks above have just shown that it is one.
  const { $schema: _, ...definition } = value as Static<typeof flowShape>;
  return { definition };
};

const nodeEntries = (value: unknown) =>
  Object.entries(isFields(value) && isFields(value['nodes']) ? value['nodes'] : {});

/** The kind and the options of a node. */
const nodeProblems = (nodeId: string, node: unknown, kinds: NodeKinds): Problem[] => {
  if (!isFields(node) || typeof node['type'] !== 'string') return [];
  const kind = findKind(kinds, node['type']);
  if (kind === undefined) {
    const message = `unknown type "${node['type']}"; known: ${Object.keys(kinds).join(', ')}`;
    return [{ path: ['nodes', nodeId, 'type'], node: nodeId, message }];
  }
  const options = node['options'] ?? {};
  return isFields(options) ? optionProblems(nodeId, options, kind) : [];
};

const optionProblems = (nodeId: string, options: Record<string, unknown>, kind: NodeDescription): Problem[] => {
  const base = ['nodes', nodeId, 'options'];
  const problems = schemaProblems(optionsSchema(kind), options);
  if (problems.length > 0) {
    return problems.map((problem) => ({
      path: [...base, ...problem.path],
      node: nodeId,
      message: phrase(problem, 'option', problem.path),
    }));
  }
  const message = kind.check?.(options);
  if (message === undefined) return [];
  const [name = ''] = message.split(/\W/, 1);
  return [{ path: [...base, name], node: nodeId, message: `options: ${message}` }];
};

/** A mistake in the shape, said of the node or edge that it is in. */
const shapeProblem = (problem: SchemaProblem): Problem => {
  const [part, key, ...rest] = problem.path;
  if (part === 'nodes' && key !== undefined) {
    return { path: problem.path, node: String(key), message: phrase(problem, 'key', rest) };
  }
  if (part === 'edges' && key !== undefined) {
    return { path: problem.path, message: `edge ${Number(key) + 1}: ${phrase(problem, 'key', rest)}` };
  }
  return { path: problem.path, message: phrase(problem, 'key', problem.path) };
};

/** `unknown option "widht"; known: width, height`, `option "width" is missing`, `option "width" must be integer`. */
const phrase = ({ about, message }: SchemaProblem, noun: string, path: Path): string => {
  if (about === undefined) return path.length === 0 ? message : `${noun} "${path.join('.')}" ${message}`;
  const name = about.is === 'unknown' ? path.join('.') : [...path, about.key].join('.');
  if (about.is === 'missing') return `${noun} "${name}" is missing`;
  return `unknown ${noun} "${name}"; known: ${about.known?.join(', ') ?? ''}`;
};
