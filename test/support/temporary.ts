/** Directories that are gone after the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What this needs of a test. */
export interface Owner {
  teardown(work: () => Promise<void>): unknown;
}

/** Makes an empty directory, below `parent`, that is removed with the test. */
export const temporaryDirectory = async (t: Owner, parent: string = tmpdir()): Promise<string> => {
  const directory = await mkdtemp(join(parent, 'sluice-test-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
};
