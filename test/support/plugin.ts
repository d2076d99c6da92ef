/** A plugin as a deployment would write it: a module far from this package, which knows it as `sluice` only. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Owner, temporaryDirectory } from './temporary.ts';

const docs = await readFile(new URL('../../docs/plugins.md', import.meta.url), 'utf8');

/** The example of the documentation: turns text around, `times` says how often it is there, empty files are refused. */
export const flipPlugin = /```ts\n(.*?)```/s.exec(docs)?.[1] ?? '';

/** Writes a module into a directory of its own; its path. */
export const writePlugin = async (t: Owner, source: string, name = 'flip-text.ts'): Promise<string> => {
  const directory = join(await temporaryDirectory(t), 'plugins');
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  await writeFile(path, source);
  return path;
};
