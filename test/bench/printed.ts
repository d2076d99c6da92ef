/** What the benchmark prints, for its tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

const program = fileURLToPath(new URL('run.ts', import.meta.url));

/** Runs it with these options. */
export const bench = async (...args: readonly string[]) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output, errors };
};

/** The tables of Markdown, as lines of cells, without the rules below their heads. */
export const tablesOf = (output: string): readonly (readonly (readonly string[])[])[] =>
  output
    .split('\n\n')
    .filter((block) => block.startsWith('|'))
    .map((block) =>
      block
        .split('\n')
        .filter((line) => /^\|[^-]/.test(line))
        .map((line) =>
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ),
    );

/** That each cell but the first of each line holds a number above 0. */
export const checkNumbers = (t: Test, [head = [], ...lines]: readonly (readonly string[])[]) => {
  for (const [name = '', ...cells] of lines) {
    t.equal(cells.length, head.length - 1, name);
    for (const [index, cell] of cells.entries())
      t.ok(Number.parseFloat(cell) > 0, `${name}, ${head[index + 1]}: ${cell}`);
  }
};
