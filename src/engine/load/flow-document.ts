/** Flow files in YAML and JSON: their values, and the lines of their parts. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
} from 'yaml';
import type { Locate, Path, Place, Problem } from './flow-problem.ts';
import { toPlain } from './plain-flow.ts';

/** What a file holds, where its parts are, and why it cannot be used, if so. */
export interface FlowSource {
  readonly value?: unknown;
  readonly locate: Locate;
  readonly problems: readonly Problem[];
}

/** How often aliases may multiply what they stand for: a few KB must not become gigabytes. */
const maxAliasCount = 50;
/** After the first ones, errors of syntax are mostly consequences. */
const maxSyntaxProblems = 10;

/** Reads YAML 1.2: one document, no unknown tags. */
export const readYaml = (text: string, file: string): FlowSource => {
  const { document, locate, placeAt } = parse(text, file);
  const problems = [...document.errors, ...document.warnings].slice(0, maxSyntaxProblems).map((error) => ({
    path: [],
    message: error.message,
    place: placeAt(error.pos[0]),
  }));
  if (problems.length > 0) return { locate, problems };
  try {
    const { value, problem } = toPlain(document.toJS({ maxAliasCount }));
    return { value, locate, problems: problem === undefined ? [] : [problem] };
  } catch (error) {
    return { locate, problems: [{ path: [], message: (error as Error).message }] };
  }
};

/** Reads JSON, strictly; a key that is there twice is an error. */
export const readJson = (source: string, file: string): FlowSource => {
  const text = source.replace(/^\uFEFF/, '');
  const { document, locate, placeAt } = parse(text, file);
  try {
    const value: unknown = JSON.parse(text);
    // JSON is YAML, save for rarities that YAML forbids: of its errors only this one counts for JSON.
    const problems = document.errors
      .filter((error) => error.code === 'DUPLICATE_KEY')
      .map((error) => ({ path: [], message: 'this key is there twice', place: placeAt(error.pos[0]) }));
    return { value, locate, problems };
  } catch (error) {
    const { message } = error as Error;
    const place = placeAt(jsonErrorOffset(message, text));
    return { locate, problems: [{ path: [], message: message.replace(jsonErrorTail, ''), place }] };
  }
};

/** What V8 adds to its messages about JSON: the position, or an excerpt. */
const jsonErrorTail = /( in JSON at position \d+.*|, .*is not valid JSON)$/s;

const jsonErrorOffset = (message: string, text: string): number => {
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  return isUnexpectedToken(text) ? unexpectedTokenOffset(text) : text.length;
};

/** V8 says of an unexpected token what it is, but not where: it is the last character of the first prefix with one. */
const unexpectedTokenOffset = (text: string): number => {
  let [without, having] = [0, text.length];
  while (having - without > 1) {
    const middle = Math.floor((without + having) / 2);
    if (isUnexpectedToken(text.slice(0, middle))) having = middle;
    else without = middle;
  }
  return without;
};

const isUnexpectedToken = (text: string): boolean => {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
};

const parse = (text: string, file: string) => {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const locate = (path: Path): Place => {
    const offset = offsetOf(document, path);
    return offset === undefined ? { file } : placeAt(offset);
  };
  return { document, locate, placeAt };
};

/** Where the key of the last segment begins, or of the last one that is there. */
const offsetOf = (document: Document<ParsedNode>, path: Path): number | undefined => {
  let inside: unknown = document.contents;
  let offset = startOf(inside);
  for (const segment of path) {
    const found = step(isAlias(inside) ? inside.resolve(document) : inside, segment);
    if (found === undefined) break;
    inside = found.value;
    offset = startOf(found.key) ?? offset;
  }
  return offset;
};

const step = (inside: unknown, segment: string | number): { key: unknown; value: unknown } | undefined => {
  if (isSeq(inside)) {
    const item = inside.items[Number(segment)];
    return item === undefined ? undefined : { key: item, value: item };
  }
  if (!isMap(inside)) return undefined;
  return inside.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
};

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined);
