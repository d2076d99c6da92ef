/**
 * The same pictures without Sluice: `node bare.ts <directory> <file> <recipe> <processes>` has that many processes go
 * through the file with a recipe of `recipes`, so often.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { serve } from './programs.ts';

const [directory = '', file = '', recipe = '', processes = '1'] = process.argv.slice(2);

const children = Array.from({ length: Number(processes) }, () =>
  fork(fileURLToPath(new URL('bare-child.ts', import.meta.url)), [directory, file, recipe], {
    env: { MALLOC_ARENA_MAX: '2', TZ: 'UTC' },
    execArgv: [],
  }),
);

for (const child of children) child.on('exit', (code) => code === 0 || process.exit(1));

const runAll = async (count: number): Promise<void> => {
  let next = 0;
  const keepBusy = async (child: ChildProcess) => {
    while (next < count) {
      const made = once(child, 'message');
      child.send(next++);
      await made;
    }
  };
  await Promise.all(children.map(keepBusy));
};

serve({
  prepare: async (count) => () => runAll(count),
  close: async () => {
    for (const child of children) child.disconnect();
  },
});
