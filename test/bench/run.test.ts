import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

const bench = fileURLToPath(new URL('run.ts', import.meta.url));
const tiny = ['--rounds', '1', '--size', '16', '--uploads', '200'];

/** The cells of the printed table, a row a line. */
const cellsOf = (output: string): string[][] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|-'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

t.test('the benchmark prints both rows with ratios, CPU and peak memory, all of them measured', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [bench, ...tiny], { timeout: 110_000 });
  const [head = [], ...rows] = cellsOf(stdout);
  t.strictSame(head.slice(0, 6), ['row', 'floor', 'full', 'process', 'full/floor', 'process/floor']);
  t.match(head.join(' '), /CPU s floor .*CPU process\/floor .*peak MiB process/);
  t.match(
    rows.map(([name]) => name),
    [/^16 MiB in one PATCH/, /^create \+ PATCH of 10 KiB/],
  );
  for (const [name, ...figures] of rows) {
    t.equal(figures.length, head.length - 1);
    for (const [index, figure] of figures.entries()) {
      t.ok(Number.parseFloat(figure) >= 0, `${name}, ${head[index + 1]}: ${figure}`);
    }
    t.ok(Number.parseFloat(figures[0] ?? '') > 0, 'the floor was measured');
  }
  t.match(stdout, /\d+ cores .*Node v24/);
});
