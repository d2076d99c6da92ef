import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Test, test } from 'tap';
import { sluice, startSluice } from '../../support/command-line.ts';
import { makePhoto } from '../../support/photo.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { until } from '../../support/wait.ts';

const nodes = { photo: { type: 'file-input' }, small: { type: 'resize', options: { width: 40 } } };
const small = { flowId: 'small', name: 'Small', nodes, edges: [{ source: 'photo', target: 'small' }] };
const copy = {
  flowId: 'copy',
  name: 'Copy',
  input: { maxFileSize: 1000 },
  nodes: {
    one: { type: 'file-input' },
    two: { type: 'file-input', options: { maxFiles: 2 } },
    first: { type: 'output' },
    second: { type: 'output' },
  },
  edges: [
    { source: 'one', target: 'first' },
    { source: 'two', target: 'second' },
  ],
};
const sized = {
  ...small,
  flowId: 'sized',
  params: { type: 'object', required: ['width'], properties: { width: { type: 'integer', minimum: 1 } } },
  nodes: { ...nodes, small: { type: 'resize', options: { width: '{{params.width}}' } } },
};
const slow = {
  flowId: 'slow',
  name: 'Slow',
  nodes: { photo: { type: 'file-input' }, encode: { type: 'optimize', options: { format: 'avif', effort: 4 } } },
  edges: [{ source: 'photo', target: 'encode' }],
};

/** A folder with flows and some files, and a place of its own for what is temporary. */
const place = async (t: Test) => {
  const cwd = await temporaryDirectory(t);
  const flows = join(cwd, 'flows');
  await mkdir(flows);
  for (const flow of [small, sized, copy, slow])
    await writeFile(join(flows, `${flow.flowId}.json`), JSON.stringify(flow));
  await writeFile(join(cwd, 'photo.jpg'), await makePhoto({ width: 80, height: 60 }));
  await writeFile(join(cwd, 'a.txt'), 'a');
  await writeFile(join(cwd, 'b.txt'), 'bb');
  await writeFile(join(cwd, 'empty.txt'), '');
  const temporary = await temporaryDirectory(t);
  return { cwd, temporary, options: { cwd, env: { TMPDIR: temporary, WORKERS: '1' } } };
};

test('a flow from file to file: paths on stdout, steps on stderr, nothing left behind', async (t) => {
  const { cwd, temporary, options } = await place(t);
  const { code, stdout, stderr } = await sluice(['flows', 'run', 'small', 'photo.jpg', '--out', 'new/out'], options);
  t.same({ code, stdout }, { code: 0, stdout: 'new/out/photo.jpg\n' }, stderr);
  t.match(await sharp(join(cwd, 'new/out/photo.jpg')).metadata(), { width: 40, format: 'jpeg' });
  const steps = ['reading photo.jpg', 'photo: started', 'photo: completed', 'small: started', 'small: completed', ''];
  t.equal(stderr, steps.join('\n'));
  t.same(await readdir(temporary), []);
});

test('what is there already is never written over', async (t) => {
  const { cwd, options } = await place(t);
  const before = await readFile(join(cwd, 'photo.jpg'));
  t.match(await sluice(['flows', 'run', 'small', 'photo.jpg'], options), { code: 0, stdout: 'photo (2).jpg\n' });
  t.match(await sluice(['flows', 'run', 'small', 'photo.jpg'], options), { code: 0, stdout: 'photo (3).jpg\n' });
  t.same(await readFile(join(cwd, 'photo.jpg')), before);
});

test('several inputs, several files, empty ones; files of one name', async (t) => {
  const { cwd, options } = await place(t);
  const args = ['flows', 'run', 'copy', 'a.txt', '--input', 'two=a.txt', '--input', 'two=empty.txt', '--out', 'o'];
  const { code, stdout } = await sluice(args, options);
  t.same({ code, stdout }, { code: 0, stdout: 'o/a.txt\no/a (2).txt\no/empty.txt\n' });
  t.equal(await readFile(join(cwd, 'o/a (2).txt'), 'utf8'), 'a');
  t.equal(await readFile(join(cwd, 'o/empty.txt'), 'utf8'), '');
});

test('a job that fails: code, node and message, exit code 1, no file', async (t) => {
  const { cwd, temporary, options } = await place(t);
  const damaged = (await readFile(join(cwd, 'photo.jpg'))).subarray(0, 900);
  await writeFile(join(cwd, 'damaged.jpg'), damaged);
  const { code, stdout, stderr } = await sluice(['flows', 'run', 'small', 'damaged.jpg', '--out', 'o'], options);
  t.same({ code, stdout }, { code: 1, stdout: '' });
  t.match(stderr, /^sluice: INVALID_INPUT at "small": .*damaged/m);
  const large = await sluice(['flows', 'run', 'copy', 'photo.jpg', 'a.txt'], options);
  t.match(large, { code: 1, stdout: '', stderr: /^sluice: FILE_TOO_LARGE at "one": /m });
  t.same((await readdir(cwd)).toSorted(), ['a.txt', 'b.txt', 'damaged.jpg', 'empty.txt', 'flows', 'photo.jpg']);
  t.same(await readdir(temporary), []);
});

test('a place for the outputs that is none, inputs without files and files that are not there are told before anything starts', async (t) => {
  const { options } = await place(t);
  const run = (...args: string[]) => sluice(['flows', 'run', ...args], options);
  t.match(await run('copy', 'a.txt'), { code: 2, stderr: /input "two" of flow "copy" has no file/ });
  t.match(await run('small', 'photo.jpg', '--out', 'a.txt'), { code: 1, stderr: 'sluice: a.txt is not a directory\n' });
  t.match(await run('small', 'none.jpg'), { code: 1, stderr: /^sluice: ENOENT.*none\.jpg/ });
  t.match(await run('none', 'a.txt'), { code: 1, stderr: /there is no valid flow "none" in flows; valid: copy, / });
});

test('--param starts the job with a parameter', async (t) => {
  const { cwd, options } = await place(t);
  const { code, stdout } = await sluice(
    ['flows', 'run', 'sized', 'photo.jpg', '--param', 'width=30', '--out', 'o'],
    options,
  );
  t.same({ code, stdout }, { code: 0, stdout: 'o/photo.jpg\n' });
  t.match(await sharp(join(cwd, 'o/photo.jpg')).metadata(), { width: 30 });
  const wrong = await sluice(['flows', 'run', 'sized', 'photo.jpg', '--param', 'width=wide'], options);
  t.match(wrong, { code: 2, stderr: /^sluice: --param width must be integer/ });
});

test('--dry-run tells the order and runs nothing', async (t) => {
  const { cwd, temporary, options } = await place(t);
  const before = await readdir(cwd);
  const { code, stdout, stderr } = await sluice(['flows', 'run', 'small', 'photo.jpg', '--dry-run'], options);
  t.same({ code, stderr }, { code: 0, stderr: '' });
  t.match(stdout, /1\. +photo .*takes photo\.jpg\n +2\. +small .*in a worker +after photo +output\n/);
  t.same(await readdir(cwd), before);
  t.same(await readdir(temporary), []);
});

test('Ctrl-C ends it: nothing is written, nothing is left behind', async (t) => {
  const { cwd, temporary, options } = await place(t);
  await writeFile(join(cwd, 'photo.jpg'), await makePhoto({ width: 2000, height: 1500 }));
  const { child, said, ran } = startSluice(['flows', 'run', 'slow', 'photo.jpg', '--out', 'o'], options);
  await until(() => said.stderr.includes('encode: started'));
  t.equal((await readdir(temporary)).length, 1);
  child.kill('SIGINT');
  t.match(await ran, { code: 130, stdout: '' });
  t.same(await readdir(temporary), []);
  t.notOk((await readdir(cwd)).includes('o'));
});
