/** What is wrong with flow files, said so that the reader can go there: file, line, column and node. */
import { isAbsolute, relative } from 'node:path';

/** A place inside a definition: keys and indices, from the outside in. */
export type Path = readonly (string | number)[];

/** A place in a file; lines and columns count from 1 and are left out where they are not known. */
export interface Place {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Finds the place of a part of a definition, or of the nearest part around it. */
export type Locate = (path: Path) => Place;

/** A problem inside one definition. */
export interface Problem {
  readonly path: Path;
  /** The key of the node that it is about. */
  readonly node?: string;
  readonly message: string;
  /** Where it is, if the path does not tell. */
  readonly place?: Place | undefined;
}

/** A problem and where it is. */
export interface FlowProblem extends Place {
  readonly node?: string;
  readonly message: string;
}

/** The definitions cannot be used: one line per problem. */
export class FlowLoadError extends Error {
  readonly problems: readonly FlowProblem[];

  constructor(problems: readonly FlowProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'FlowLoadError';
    this.problems = problems;
  }
}

/** `flows/x.yaml:12:5 node "small": unknown option "widht"` */
export const formatProblem = ({ file, line, column, node, message }: FlowProblem): string => {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${place} ${node === undefined ? '' : `node ${JSON.stringify(node)}: `}${message}`.replaceAll(
    /\s*\n\s*/g,
    ' ',
  );
};

/** A path as people see it: from the working directory when it lies below it, else in full. */
export const displayPath = (file: string): string => {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') || isAbsolute(short) ? file : short;
};

/** Problems with their places, in the order of the file. */
export const placeProblems = (problems: readonly Problem[], locate: Locate): FlowProblem[] =>
  problems
    .map(({ path, place, ...problem }) => ({ ...(place ?? locate(path)), ...problem }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
