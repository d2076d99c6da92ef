/**
 * Loads the flows directory: each file is read (`flow-document.ts`) or evaluated (`evaluate-flow.ts`), and checked
 * (`check-flow.ts`). Everything that is wrong in any of them is reported together.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import type { FlowDefinition } from '../../domain/flow.ts';
import type { NodeKinds } from '../../ports/node.ts';
import { checkDefinition } from './check-flow.ts';
import { evaluateFlow } from './evaluate-flow.ts';
import { type FlowSource, readJson, readYaml } from './flow-document.ts';
import {
  displayPath,
  FlowLoadError,
  type FlowProblem,
  formatProblem,
  type Locate,
  placeProblems,
} from './flow-problem.ts';

export interface LoadFlowsOptions {
  readonly directory: string;
  readonly kinds: NodeKinds;
  /** `fail`: any problem rejects. `skip`: files with problems are left out, and logged. */
  readonly onError: 'fail' | 'skip';
  readonly log?: { warn(message: string): void };
}

type Loaded =
  | { readonly definition: FlowDefinition; readonly locate: Locate; readonly problems?: never }
  | { readonly problems: readonly FlowProblem[] };

/** Bytes of a YAML or JSON file. */
const maxFileSize = 256 * 1024;

const readers: Readonly<Record<string, (file: string, shown: string) => Promise<FlowSource>>> = {
  '.yaml': async (file, shown) => readYaml(await readText(file), shown),
  '.yml': async (file, shown) => readYaml(await readText(file), shown),
  '.json': async (file, shown) => readJson(await readText(file), shown),
  '.ts': (file, shown) => evaluateFlow(file, shown),
  '.js': (file, shown) => evaluateFlow(file, shown),
  '.mjs': (file, shown) => evaluateFlow(file, shown),
};

/** Files that may lie beside flows: documentation, the schema for editors, settings of tools. */
const beside = /^readme\b|\.schema\.json$|\.d\.ts$|^(package|package-lock|tsconfig)\.json$/i;

/** What a directory holds: the flows that can be used, by their ids, and what is wrong with the others. */
export interface FoundFlows {
  readonly flows: Record<string, FlowDefinition>;
  readonly problems: readonly FlowProblem[];
}

/** The flows of a directory by their ids. Rejects with a `FlowLoadError` that lists all problems of all files. */
export const loadFlows = async (options: LoadFlowsOptions): Promise<Record<string, FlowDefinition>> => {
  const { flows, problems } = await readFlows(options);
  if (problems.length > 0 && options.onError === 'fail') throw new FlowLoadError(problems);
  for (const problem of problems) options.log?.warn(`Flow left out: ${formatProblem(problem)}`);
  return flows;
};

/** Reads all files of the directory; rejects only when there is no reading the directory itself. */
export const readFlows = async (options: Omit<LoadFlowsOptions, 'onError'>): Promise<FoundFlows> => {
  const files = await listFlowFiles(options.directory, options.log);
  return collect(await mapInParallel(files, (file) => loadFile(file, options.kinds)));
};

/** Follows links: a mounted ConfigMap is a directory of links into `..data`, which is a link itself. */
const listFlowFiles = async (directory: string, log: LoadFlowsOptions['log']): Promise<string[]> => {
  const names = await readdir(directory).catch((error: Error) => {
    throw new FlowLoadError([{ file: displayPath(directory), message: `cannot be read: ${error.message}` }]);
  });
  const files: string[] = [];
  for (const name of names.sort()) {
    if (name.startsWith('.') || beside.test(name)) continue;
    const file = join(directory, name);
    const isDirectory = await stat(file).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (isDirectory) continue;
    if (Object.hasOwn(readers, extname(name))) files.push(file);
    else log?.warn(`${displayPath(file)} is ignored: flows are ${Object.keys(readers).join(' ')} files`);
  }
  return files;
};

const loadFile = async (file: string, kinds: NodeKinds): Promise<Loaded> => {
  const shown = displayPath(file);
  try {
    const source = await readers[extname(file)]?.(file, shown);
    return source === undefined ? { problems: [] } : checkSource(source, kinds);
  } catch (error) {
    return { problems: [{ file: shown, message: `cannot be read: ${(error as Error).message}` }] };
  }
};

const checkSource = ({ value, locate, problems }: FlowSource, kinds: NodeKinds): Loaded => {
  if (problems.length > 0) return { problems: placeProblems(problems, locate) };
  const checked = checkDefinition(value, kinds);
  if (checked.problems !== undefined) return { problems: placeProblems(checked.problems, locate) };
  return { definition: checked.definition, locate };
};

const readText = async (file: string): Promise<string> => {
  const { size } = await stat(file);
  if (size > maxFileSize) throw new Error(`it has ${size} bytes, more than ${maxFileSize}`);
  return readFile(file, 'utf8');
};

/** Flows by id. Of two files with one id the first by name stays, so that `skip` always keeps the same one. */
const collect = (loaded: readonly Loaded[]): FoundFlows => {
  const first = new Map<string, { definition: FlowDefinition; locate: Locate }>();
  const problems: FlowProblem[] = [];
  for (const result of loaded) {
    if (result.problems !== undefined) {
      problems.push(...result.problems);
      continue;
    }
    const { flowId } = result.definition;
    const other = first.get(flowId);
    if (other === undefined) first.set(flowId, result);
    else problems.push({ ...result.locate(['flowId']), message: usedTwice(flowId, other.locate) });
  }
  // Without a prototype, so that `flows['constructor']` is no flow.
  const flows: Record<string, FlowDefinition> = Object.create(null);
  for (const [flowId, { definition }] of first) flows[flowId] = definition;
  return { flows, problems };
};

const usedTwice = (flowId: string, locate: Locate): string => {
  const { file, line } = locate(['flowId']);
  return `flowId "${flowId}" is already taken by ${line === undefined ? file : `${file}:${line}`}`;
};

/** As many at once as there are cores, since code is evaluated in processes; results in the order of the files. */
const mapInParallel = async <Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) => {
  const results: Result[] = [];
  const queue = items.entries();
  const drain = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, drain));
  return results;
};
