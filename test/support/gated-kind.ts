/** A node kind that tells in which replica it runs, and ends when the test lets it. */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePlugin } from './plugin.ts';
import { type Owner, temporaryDirectory } from './temporary.ts';

/** Each run writes a line and then waits for a file that is named like what it has got. */
const source = (directory: string) => `
import { existsSync } from 'node:fs';
import { appendFile, copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { defineNode, Type } from 'sluice';

export const gatedNode = defineNode({
  kind: 'gated',
  name: 'Gated',
  role: 'process',
  options: Type.Object({}, { additionalProperties: false }),
  accepts: ['text/plain'],
  produces: () => ['text/plain'],
  run: async ({ files: [file], directory }) => {
    const name = (await readFile(file.path, 'utf8')).trim();
    await appendFile(join(${JSON.stringify(directory)}, name + '.runs'), process.ppid + ' ' + process.pid + '\\n');
    while (!existsSync(join(${JSON.stringify(directory)}, name + '.open'))) await setTimeout(20);
    const path = join(directory, '0.txt');
    await copyFile(file.path, path);
    return [{ path, mimeType: 'text/plain', fileName: file.fileName, meta: {} }];
  },
});
`;

export interface GatedKind {
  /** For PLUGINS. */
  readonly plugin: string;
  /** All runs so far of the node that has got this text: the process of the replica, and the worker. */
  runs(name: string): Promise<readonly { readonly replica: number; readonly worker: number }[]>;
  /** Lets all runs of it end, those to come too. */
  open(name: string): Promise<void>;
}

/** The kind `gated`, for files that hold a name of small letters, digits and dashes. */
export const writeGatedKind = async (t: Owner): Promise<GatedKind> => {
  const directory = await temporaryDirectory(t);
  return {
    plugin: await writePlugin(t, source(directory), 'gated.ts'),
    async runs(name) {
      const text = await readFile(join(directory, `${name}.runs`), 'utf8').catch(() => '');
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => {
        const [replica = 0, worker = 0] = line.split(' ').map(Number);
        return { replica, worker };
      });
    },
    open: (name) => appendFile(join(directory, `${name}.open`), ''),
  };
};
