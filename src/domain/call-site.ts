/**
 * Where in a program a node or a flow was written, for the messages of the loader. The mark is not enumerable and its
 * key is a symbol: copies, JSON and comparisons do not see it.
 */
const mark = Symbol('call site');

interface Marked {
  readonly [mark]?: { readonly stack?: string };
}

/** Marks `value` as made by whoever called `callee`; returns it. The stack becomes text only when it is read. */
export const markCallSite = <T extends object>(value: T, callee: (...args: never[]) => unknown): T => {
  const here: { stack?: string } = {};
  Error.captureStackTrace(here, callee);
  return Object.defineProperty(value, mark, { value: here });
};

/** Gives `value` the mark of `origin`, if it has one; returns `value`. */
export const copyCallSite = <T extends object>(value: T, origin: object): T =>
  Object.defineProperty(value, mark, { value: (origin as Marked)[mark] });

/** The stack of the call that made `value`, the caller first; `undefined` for what no constructor has made. */
export const callSiteOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null ? (value as Marked)[mark]?.stack : undefined;
