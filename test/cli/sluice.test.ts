import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { sluice } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

t.test('help names every command, and each command its options', async (t) => {
  for (const args of [['--help'], ['-h'], ['help'], ['flows', '--help']]) {
    const { code, stdout } = await sluice(args);
    t.equal(code, 0, args.join(' '));
    for (const name of ['validate', 'graph', 'schema', 'run']) t.match(stdout, `sluice flows ${name}`);
  }
  const run = await sluice(['flows', 'run', '--help']);
  t.equal(run.code, 0);
  for (const option of ['<flowId>', '--out', '--input', '--param', '--flows', '--dry-run']) t.match(run.stdout, option);
});

t.test('--version', async (t) => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  t.same(await sluice(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
});

t.test('wrong calls say what is wrong, and end with 2', async (t) => {
  const wrong: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [[], /a command is missing; known: flows /],
    [['flow'], /there is no command "flow"; known: flows /],
    [['constructor'], /there is no command "constructor"/],
    [['flows'], /a command is missing; known: flows validate, flows graph, flows schema, flows run /],
    [['flows', 'valid'], /there is no command "flows valid"; known: flows validate, /],
    [['flows', 'validate', '--jsn'], /Unknown option '--jsn' \(/],
    [['flows', 'validate', 'a', 'b'], /"b" is one argument too many/],
    [['flows', 'schema', 'x'], /Unexpected argument 'x'/],
    [['flows', 'graph'], /<flowId> is missing/],
    [['flows', 'run'], /<flowId> is missing/],
    [['flows', 'run', 'x', '--out'], /'--out <value>' argument missing/],
  ];
  const ran = await Promise.all(wrong.map(([args]) => sluice(args)));
  for (const [index, [args, message]] of wrong.entries()) {
    t.match(ran[index], { code: 2, stdout: '', stderr: message }, args.join(' '));
    t.equal(ran[index]?.stderr.trim().split('\n').length, 1, 'in one line');
  }
});

t.test('settings that are wrong are told by their names', async (t) => {
  const { code, stderr } = await sluice(['flows', 'validate'], { env: { PORT: 'x' } });
  t.equal(code, 1);
  t.match(stderr, /PORT must be/);
  t.equal((await sluice(['flows', 'validate', 'flows'], { env: { PORT: 'x' } })).code, 0, 'if they are needed');
});

t.test('a reader that has read enough is no error', async (t) => {
  const command = `"${process.execPath}" "${bin}" flows schema | head -n 1`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-o', 'pipefail', '-c', command]);
  t.same({ stdout, stderr }, { stdout: '{\n', stderr: '' });
});

t.test('the file that npm links runs by itself, from anywhere', async (t) => {
  t.ok(((await stat(bin)).mode & 0o111) === 0o111, 'it is executable');
  const { stdout } = await promisify(execFile)(bin, ['--version'], { cwd: await temporaryDirectory(t) });
  t.match(stdout, /^\d+\.\d+\.\d+\n$/);
});
