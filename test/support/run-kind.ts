/** Runs one node kind in the test's own process, over bytes. */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeOutput, NodeRun } from '../../src/ports/node.ts';
import type { PassedFile, WorkerFile } from '../../src/ports/worker-pool.ts';
import { type Owner, temporaryDirectory } from './temporary.ts';

export const limits = { maxPixels: 100_000_000, maxSide: 16_383 };

/** A file that comes in: bytes, or the output of another node. */
export type Incoming =
  | NodeOutput
  | (Partial<Omit<WorkerFile, 'path'>> & {
      readonly bytes: Buffer;
      readonly mimeType: string;
      readonly extension?: string;
    });

interface Runnable<Options> {
  run?(run: NodeRun<Options>): Promise<readonly (NodeOutput | PassedFile)[]>;
}

/** The files that a run of `kind` has made. */
export const runKind = async <Options>(
  ...given: Parameters<typeof runWhole<Options>>
): Promise<readonly NodeOutput[]> => (await runWhole(...given)).filter((output) => 'path' in output);

/** A run of `kind` with the defaults of a test: the files that it has made and those that it hands on. */
export const runWhole = async <Options>(
  t: Owner,
  kind: Runnable<Options>,
  options: Options,
  files: readonly Incoming[],
  change: Partial<Pick<NodeRun<Options>, 'intermediate' | 'limits' | 'progress'>> = {},
): Promise<readonly (NodeOutput | PassedFile)[]> => {
  if (kind.run === undefined) throw new Error('This kind does not run');
  const place = await mkdtemp(join(await temporaryDirectory(t), 'run-'));
  const directory = join(place, 'out');
  await mkdir(directory);
  const written = await Promise.all(files.map((file, index) => incoming(place, file, index)));
  return kind.run({
    options,
    files: written,
    directory,
    intermediate: false,
    limits,
    params: {},
    progress: () => {},
    ...change,
  });
};

const incoming = async (place: string, file: Incoming, index: number): Promise<WorkerFile> => {
  if ('path' in file) return file;
  // As the store names uploads: without an extension.
  const { bytes, extension = '', ...rest } = file;
  const path = join(place, `upload-${index}${extension}`);
  await writeFile(path, bytes);
  return { fileName: 'IMG_1.upload', ...rest, path };
};

/** The one file that a run has delivered, and its bytes. */
export const only = async (
  outputs: Promise<readonly NodeOutput[]>,
): Promise<{ readonly output: NodeOutput; readonly bytes: Buffer }> => {
  const [output, ...more] = await outputs;
  if (output === undefined || more.length > 0) throw new Error('Not one file');
  return { output, bytes: await readFile(output.path) };
};
