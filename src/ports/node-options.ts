/**
 * The options of a node as its kind gets them, with their templates expanded and checked again. The engine asks for
 * kinds that pass files on, workers for those that make files.
 */
import { ServiceError } from '../domain/errors.ts';
import type { Params } from '../domain/params.ts';
import { expandTemplates, hasTemplate, namesFile, namesHash, type TemplateValues } from '../domain/template.ts';
import type { NodeDescription, NodeFile } from './node.ts';
import { phraseProblem, schemaProblems } from './schema-problems.ts';
import type { PassedFile, WorkerStep } from './worker-pool.ts';

type Options = Readonly<Record<string, unknown>>;

/** One run of a kind: over all of its files, or over one of them and those that came by named inputs. */
export interface NodeBatch<File> {
  readonly options: Options;
  readonly files: readonly File[];
  /** Where each of `files` stands among all files of the node. */
  readonly places: readonly number[];
}

/**
 * The options with their templates expanded. Throws `INVALID_PARAMS`, which names the option, when a template has no
 * value or the values do not fit the kind.
 */
export const resolveOptions = (kind: NodeDescription, options: Options, values: TemplateValues): Options => {
  // Without templates they are what the loader has checked.
  if (!hasTemplate(options)) return options;
  const expanded = Object.entries(options).map(([name, value]) => [name, expandTemplates(value, values, name)]);
  const resolved: Options = Object.fromEntries(expanded);
  const [problem] = schemaProblems(kind.options, resolved);
  if (problem !== undefined) {
    throw invalid(problem.path[0] ?? problem.about?.key, phraseProblem(problem, 'option', problem.path));
  }
  const message = kind.check?.(resolved);
  if (message !== undefined) throw invalid(message.split(/\W/, 1)[0], `options: ${message}`);
  return resolved;
};

const invalid = (option: string | number | undefined, message: string): ServiceError =>
  new ServiceError('INVALID_PARAMS', message, { details: { option } });

/** What the runs of a step are: options that name a fact of a file differ from file to file, so each has its own. */
export const batchesOf = <File extends NodeFile>(
  kind: NodeDescription,
  { nodeId, options }: Pick<WorkerStep, 'nodeId' | 'options'>,
  files: readonly File[],
  values: TemplateValues,
): readonly NodeBatch<File>[] => {
  const known = { ...values, node: { id: nodeId } };
  const all = files.map((file, place) => ({ file, place }));
  if (!namesFile(options)) return [batch(resolveOptions(kind, options, known), all)];
  const aside = all.filter(({ file }) => file.handle !== undefined);
  const main = all.filter(({ file }) => file.handle === undefined);
  return main.map((placed, index) =>
    batch(resolveOptions(kind, options, { ...known, ...fileValues(placed.file, index) }), [placed, ...aside]),
  );
};

const batch = <File>(
  options: Options,
  placed: readonly { readonly file: File; readonly place: number }[],
): NodeBatch<File> => ({
  options,
  files: placed.map(({ file }) => file),
  places: placed.map(({ place }) => place),
});

/** Of a file, what templates may name; `index` counts the files that come by the main input, from 0. */
const fileValues = ({ fileName, mimeType, size, hash, meta = {} }: NodeFile, index: number): TemplateValues => {
  const dot = fileName.lastIndexOf('.');
  // A dot at the front is no extension's.
  const cut = dot > 0 ? dot : fileName.length;
  const extension = fileName.slice(cut + 1);
  const file = { name: fileName, baseName: fileName.slice(0, cut), extension, mimeType, size };
  return { file: hash === undefined ? file : { ...file, hash }, meta, index };
};

/** What a batch has passed on, by the places among all files. */
export const atPlaces = <Output extends object>(
  { places }: NodeBatch<unknown>,
  outputs: readonly (Output | PassedFile)[],
): readonly (Output | PassedFile)[] =>
  outputs.map((output) =>
    'passes' in output ? { ...output, passes: places[output.passes] ?? output.passes } : output,
  );

/** What the job was started with. */
export const paramsOf = ({ params }: TemplateValues): Params => (params ?? {}) as Params;

/**
 * What a kind passes on in the server process; `undefined`: a worker must look at the files. Throws `ServiceError`, with
 * `INVALID_PARAMS` when a template has no value.
 */
export const passFiles = (
  kind: NodeDescription,
  step: Pick<WorkerStep, 'nodeId' | 'options'>,
  files: readonly NodeFile[],
  values: TemplateValues,
): readonly PassedFile[] | undefined => {
  if (namesHash(step.options)) return undefined;
  const passed: PassedFile[] = [];
  for (const one of kind.pass === undefined ? [] : batchesOf(kind, step, files, values)) {
    const outputs = kind.pass?.(one.options, one.files, paramsOf(values));
    if (outputs === undefined) return undefined;
    passed.push(...atPlaces<never>(one, outputs));
  }
  return kind.pass === undefined ? undefined : passed;
};
