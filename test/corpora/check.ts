/** Does all recipes to one file and judges what comes of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatOf } from '../../src/nodes/image/format.ts';
import type { MadeFile, WorkerFile } from '../../src/ports/worker-pool.ts';
import type { CorpusFile } from './files.ts';
import { type Answer, type Lane, memoryLimit, takePeak } from './lane.ts';
import type { Looked } from './probe.ts';
import { type Recipe, recipes } from './recipes.ts';

export interface Checked {
  readonly file: CorpusFile;
  /** By recipe: `ok`, or the code. */
  readonly outcomes: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
  /** Milliseconds of all recipes together. */
  readonly took: number;
  /** Bytes of the child. */
  readonly peak: number;
}

/** What a file may be told; all else is a mistake of ours. */
const fair = new Set(['INVALID_INPUT', 'UNSUPPORTED_FORMAT', 'FILE_TOO_LARGE']);

/** Milliseconds for all recipes of one file. */
const fileLimit = 300_000;

/** What encoders take on a side at most, pixels. */
const largestSide = 16_383;

export const checkFile = async (lane: Lane, file: CorpusFile): Promise<Checked> => {
  const place = await mkdtemp(join(tmpdir(), 'sluice-corpora-'));
  try {
    const given: WorkerFile = { path: file.path, mimeType: file.mimeType, fileName: file.fileName };
    const looked = await lane.look(given, join(place, 'look'));
    await takePeak(looked.pid);
    const begin = performance.now();
    const outcomes: Record<string, string> = {};
    const problems: string[] = [];
    for (const [index, recipe] of recipes.entries()) {
      const directory = join(place, String(index));
      const files = Array.from({ length: recipe.copies ?? 1 }, () => given);
      const answer = await lane.run({ chains: recipe.chains, files, directory });
      outcomes[recipe.name] = 'code' in answer ? answer.code : 'ok';
      const found =
        'code' in answer
          ? failureProblem(answer, looked)
          : await outputProblem(lane, answer, recipe, looked, place, given);
      if (found !== undefined) problems.push(`${recipe.name}: ${found}`);
      await rm(directory, { recursive: true, force: true });
    }
    const took = performance.now() - begin;
    if (took > fileLimit) problems.push(`took ${Math.round(took)} ms`);
    const peak = await takePeak(looked.pid);
    // The pool looks at it now and then only.
    if (peak > memoryLimit * 1.25) problems.push(`a child with ${peak} bytes of memory was not ended`);
    return { file, outcomes, problems, took, peak };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
};

const failureProblem = (answer: Extract<Answer, { code: string }>, looked: Looked): string | undefined => {
  const { code, message, cause } = answer;
  const told = `${code} ${message} (${String(cause).split('\n', 2).join(' ')})`;
  if (!fair.has(code)) return told;
  return isReadable(looked) ? `${told}, though sharp reads it` : undefined;
};

/** Whether the kinds must be able to work with it. */
const isReadable = ({ picture }: Looked): boolean =>
  picture !== undefined &&
  formatOf(`image/${picture.format}`) !== undefined &&
  Math.max(picture.width, picture.height) <= largestSide;

const outputProblem = async (
  lane: Lane,
  answer: Extract<Answer, { outputs: unknown }>,
  recipe: Recipe,
  looked: Looked,
  place: string,
  { mimeType }: WorkerFile,
): Promise<string | undefined> => {
  if (answer.outputs.length === 0) return 'nothing came out';
  for (const [index, output] of answer.outputs.entries()) {
    if (!('path' in output)) {
      // What is not known as a picture is not opened, and the header may tell more than the pixels.
      const told = output.meta?.['width'];
      const width = mimeType.startsWith('image/') ? looked.picture?.width : undefined;
      if (width !== undefined && told !== width) return `the width is told as ${told}, not ${width}`;
      continue;
    }
    const made = await lane.look(output, join(place, `look-${recipe.name}-${index}`));
    const problem = madeProblem(output, made, recipe, looked);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const madeProblem = (
  output: MadeFile,
  { picture, problem }: Looked,
  recipe: Recipe,
  looked: Looked,
): string | undefined => {
  if (picture === undefined) return `what came out cannot be read: ${problem}`;
  const { format, width, height } = picture;
  const is = `${format} of ${width} x ${height}`;
  if (output.mimeType !== `image/${format}`) return `${output.mimeType} is ${is}`;
  if (recipe.type !== undefined && output.mimeType !== recipe.type)
    return `${output.mimeType} in place of ${recipe.type}`;
  const { meta } = output;
  if (meta['width'] !== width || meta['height'] !== height)
    return `${is} is told as ${meta['width']} x ${meta['height']}`;
  if (typeof recipe.size === 'number' && Math.max(width, height) > recipe.size) return `${is} is over ${recipe.size}`;
  const before = looked.picture;
  if (recipe.size !== 'same' || before === undefined) return undefined;
  return before.width === width && before.height === height
    ? undefined
    : `${is} from ${before.width} x ${before.height}`;
};
