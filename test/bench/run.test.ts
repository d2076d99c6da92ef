/** The benchmark itself: that it runs and says all that it shall, nothing about speed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { temporaryDirectory } from '../support/temporary.ts';

const program = fileURLToPath(new URL('run.ts', import.meta.url));

const bench = async (...args: readonly string[]) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output, errors };
};

/** The cells of the lines of a Markdown table, without the rule below its head. */
const cellsOf = (output: string): readonly (readonly string[])[] =>
  output
    .split('\n')
    .filter((line) => /^\|[^-]/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

void t.test('a short run fills every column of both rows with a number above 0', async (t) => {
  const directory = await temporaryDirectory(t);
  const { code, output, errors } = await bench(
    ...['--rounds', '1', '--size', '16', '--uploads', '200', '--dir', directory],
  );
  t.equal(code, 0, errors);
  const [head = [], ...rows] = cellsOf(output);
  t.strictSame(head, [
    'row',
    ...['floor', 'full', 'process', 'full/floor', 'process/floor'],
    ...['CPU s floor', 'CPU s full', 'CPU s process', 'CPU full/floor', 'CPU process/floor'],
    ...['peak MiB floor', 'peak MiB full', 'peak MiB process'],
  ]);
  t.match(rows, [[/^16 MiB in one PATCH/], [/^create \+ PATCH of 10 KiB/]]);
  for (const [name, ...cells] of rows) {
    t.equal(cells.length, head.length - 1, name ?? '');
    for (const [index, cell] of cells.entries()) t.ok(Number.parseFloat(cell) > 0, `${head[index + 1]}: ${cell}`);
  }
  t.match(output, new RegExp(`\\d+ cores .*, Node ${process.version}, \\w+ at ${directory}`), 'the machine');
  t.strictSame(await readdir(directory), [], 'nothing is left behind');
});

void t.test('what is not a number above 0 is refused', async (t) => {
  const { code, errors } = await bench('--rounds', 'many');
  t.equal(code, 1);
  t.match(errors, /many is not a number above 0/);
});
