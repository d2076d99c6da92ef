/** The benchmark itself: that it runs and says all that it shall, nothing about speed. */
import { readdir } from 'node:fs/promises';
import t from 'tap';
import { temporaryDirectory } from '../support/temporary.ts';
import { bench, checkNumbers, tablesOf } from './printed.ts';

void t.test('every server fills every column with a number above 0, and the goals follow', async (t) => {
  const directory = await temporaryDirectory(t);
  const { code, output, errors } = await bench('--short', '--rows', 'small', '--dir', directory);
  t.equal(code, 0, errors);
  const [rows = [], goals = []] = tablesOf(output);
  t.strictSame(rows[0], [
    'row',
    ...['floor', 'tus', 'full', 'process', 'tus/floor', 'full/floor', 'process/floor'],
    ...['CPU s floor', 'CPU s tus', 'CPU s full', 'CPU s process'],
    ...['CPU tus/floor', 'CPU full/floor', 'CPU process/floor'],
    ...['peak MiB floor', 'peak MiB tus', 'peak MiB full', 'peak MiB process'],
  ]);
  t.match(rows.slice(1), [[/^small: create \+ PATCH of 10 KiB/]]);
  checkNumbers(t, rows);
  t.strictSame(goals[0], ['goal', 'wanted', 'reached', 'verdict']);
  const texts = goals.map(([goal]) => goal);
  t.ok(texts.includes('small: speed of full / tus') && texts.includes('small: speed of process / tus'), texts.join());
  for (const [goal = '', ...cells] of goals.slice(1)) t.match(cells, [/^[<>]= \d/, /^-?\d/, /^(ok|missed)$/], goal);
  t.match(output, new RegExp(`\\d+ cores .*, Node ${process.version}`), 'the machine');
  t.match(output, new RegExp(`^## \\w+ at ${directory}$`, 'm'), 'the file system');
  t.strictSame(await readdir(directory), [], 'nothing is left behind');
});

void t.test('every other row fills every column of the chosen servers', async (t) => {
  const directory = await temporaryDirectory(t);
  const names = ['large', 'chunks', 'memory', 'memory-16x', 'concurrent'];
  const chosen = ['--rows', [...names, 'latency'].join(), '--servers', 'floor,process'];
  const { code, output, errors } = await bench('--short', ...chosen, '--dir', directory);
  t.equal(code, 0, errors);
  const [rows = [], latency = [], goals = []] = tablesOf(output);
  t.strictSame(
    rows.slice(1).map(([name]) => name?.split(':')[0]),
    names,
  );
  checkNumbers(t, rows);
  t.strictSame(
    latency.slice(1).map(([name]) => name),
    ['HEAD of an upload, process', 'GET /api/health, process'],
  );
  checkNumbers(t, latency);
  t.equal(goals.length, 1 + 8, 'large 2, chunks, peaks 3, latency 2');
  t.strictSame(await readdir(directory), [], 'nothing is left behind');
});

void t.test('every contestant of every row of flows fills every column, and the goals follow', async (t) => {
  const directory = await temporaryDirectory(t);
  const { code, output, errors } = await bench('--short', '--group', 'flows', '--dir', directory);
  t.equal(code, 0, errors);
  const [flows = [], memory = [], goals = []] = tablesOf(output);
  t.strictSame(
    flows.slice(1).map(([name]) => name?.replace(/:.*;/, ':')),
    [
      ...['engine: floor', 'engine: engine'],
      ...['image: sharp', 'image: engine', 'image: service'],
      ...['chain: sharp, memory', 'chain: sharp, files', 'chain: engine'],
      ...['sizes: four flows', 'sizes: one flow', 'sizes: sharp'],
      ...['sizes-webp: four flows', 'sizes-webp: one flow', 'sizes-webp: sharp'],
    ],
  );
  checkNumbers(t, flows);
  t.equal(memory.length, 1 + 1);
  checkNumbers(t, memory);
  t.strictSame(
    goals.slice(1).map(([goal]) => goal?.split(':')[0]),
    ['image', 'image', 'chain', 'sizes', 'sizes-webp', 'idle-memory'],
  );
  t.strictSame(await readdir(directory), [], 'nothing is left behind');
});

void t.test('what is not a number above 0, or no name of a row, is refused', async (t) => {
  const numbers = await bench('--rounds', 'many');
  t.equal(numbers.code, 1);
  t.match(numbers.errors, /many is not a number above 0/);
  const names = await bench('--rows', 'large,huge');
  t.equal(names.code, 1);
  t.match(names.errors, /huge is none of large, chunks/);
  const groups = await bench('--group', 'downloads');
  t.equal(groups.code, 1);
  t.match(groups.errors, /downloads is none of uploads, flows, s3/);
});
