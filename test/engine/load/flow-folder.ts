/** Flow files written by a test into a temporary folder outside of the repository. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { FlowLoadError } from '../../../src/engine/load/flow-problem.ts';
import { type LoadFlowsOptions, loadFlows } from '../../../src/engine/load/load-flows.ts';
import { testKinds } from './test-kinds.ts';

export type Texts = Readonly<Record<string, string>>;

/** Where code fixtures import the test kinds from. */
export const testKindsUrl = new URL('./test-kinds.ts', import.meta.url).href;

/** A folder with these files, removed after the test. */
export const folderOf = async (t: Test, texts: Texts): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-flows-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(texts)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return directory;
};

/** Loads these files with the test kinds. */
export const loadTexts = async (t: Test, texts: Texts, options: Partial<LoadFlowsOptions> = {}) =>
  loadFlows({ directory: await folderOf(t, texts), kinds: testKinds, onError: 'fail', ...options });

/** The lines of the `FlowLoadError` that loading these files ends with; `flows/` stands for the temporary folder. */
export const problemsOf = async (t: Test, texts: Texts): Promise<string[]> => {
  const directory = await folderOf(t, texts);
  const error: unknown = await loadFlows({ directory, kinds: testKinds, onError: 'fail' }).catch((thrown) => thrown);
  if (!(error instanceof FlowLoadError)) throw new Error(`expected a FlowLoadError, not ${error}`);
  return error.message.split('\n').map((line) => line.replaceAll(directory, 'flows'));
};
