/** Definitions from code as plain data, and the lines of the program that made them. */
import { fileURLToPath } from 'node:url';
import { callSiteOf } from '../../domain/call-site.ts';
import { isFields } from './flow-graph.ts';
import { displayPath, type Locate, type Path, type Place, type Problem } from './flow-problem.ts';

/** Where the parts of a definition were made, as far as constructors made them. It survives JSON. */
export interface CallSites {
  readonly flow?: Place | undefined;
  readonly nodes: Readonly<Record<string, Place>>;
}

/** The places of a definition's constructors; the calls in `file`, an absolute path, are preferred. */
export const callSitesOf = (definition: unknown, file?: string): CallSites => {
  const nodes = isFields(definition) && isFields(definition['nodes']) ? definition['nodes'] : {};
  const placed = Object.entries(nodes).flatMap(([nodeId, node]) => {
    const place = placeInStack(callSiteOf(node), file);
    return place === undefined ? [] : [[nodeId, place] as const];
  });
  return { flow: placeInStack(callSiteOf(definition), file), nodes: Object.fromEntries(placed) };
};

/** Places by call site: a node's own, else the flow's, else `otherwise`. */
export const locateCallSites =
  ({ flow, nodes }: CallSites, otherwise: Place): Locate =>
  ([part, key]) => {
    const isNode = part === 'nodes' && typeof key === 'string' && Object.hasOwn(nodes, key);
    return (isNode ? nodes[key] : undefined) ?? flow ?? otherwise;
  };

/** `at name (file:///path:1:2)` and the forms without a name or with a path. */
const frame = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+):(\d+)\)?$/gm;

/** The place of the first frame that is in `file`, else of the first of all. */
export const placeInStack = (stack: string | undefined, file?: string): Place | undefined => {
  const places = [...(stack ?? '').matchAll(frame)].map(([, path = '', line, column]) => ({
    path: toFilePath(path),
    place: { file: displayPath(toFilePath(path)), line: Number(line), column: Number(column) },
  }));
  return (places.find(({ path }) => path === file) ?? places[0])?.place;
};

/** A path as stacks show it, which is a URL for modules. */
export const toFilePath = (path: string): string => (path.startsWith('file:') ? fileURLToPath(path) : path);

/** A value as JSON would carry it, and what JSON would have lost without a word. */
export interface Plain {
  readonly value: unknown;
  readonly problem?: Problem | undefined;
}

/** Copies a value through JSON; functions, class instances and the like are a problem, with the path to them. */
export const toPlain = (definition: unknown): Plain => {
  const paths = new WeakMap<object, Path>();
  let problem: Problem | undefined;
  const keepPlain = function (this: object, key: string, part: unknown): unknown {
    const outside = paths.get(this);
    const path = outside === undefined ? [] : [...outside, key];
    if (typeof part === 'object' && part !== null) paths.set(part, path);
    const what = notPlain(part);
    if (what === undefined) return part;
    problem ??= plainProblem(path, what);
    return undefined;
  };
  try {
    const text = JSON.stringify(definition, keepPlain);
    return { value: text === undefined ? undefined : JSON.parse(text), problem };
  } catch {
    // What is left to go wrong is a cycle, or nesting too deep for the stack.
    return { value: undefined, problem: { path: [], message: 'the definition contains itself; a flow is plain data' } };
  }
};

const plainProblem = (path: Path, what: string): Problem => {
  const [part, key] = path;
  const node = part === 'nodes' && key !== undefined ? { node: String(key) } : {};
  return { path, ...node, message: `"${path.join('.')}" is ${what}; a flow is plain data` };
};

const notPlain = (part: unknown): string | undefined => {
  if (typeof part === 'function' || typeof part === 'symbol' || typeof part === 'bigint') return `a ${typeof part}`;
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(part);
  if (prototype === null || prototype === Object.prototype) return undefined;
  return `a ${part.constructor?.name || 'class instance'}`;
};
