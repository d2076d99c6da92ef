import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { sluice } from '../../support/command-line.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const good = `flowId: good
name: Good
nodes: { photo: { type: file-input }, small: { type: resize, options: { width: 5 } } }
edges: [{ source: photo, target: small }]
`;
const bad = good.replace('good', 'bad').replace('width: 5', 'widht: 5').replace('target: small', 'target: smal');
const code = `import { defineFlow, inputNode, resizeNode } from 'sluice';
export default defineFlow({
  flowId: 'code',
  name: 'Code',
  nodes: [
    inputNode('photo'),
    resizeNode('small', { width: 0 }),
  ],
  edges: [{ source: 'photo', target: 'small' }],
});
`;

const folder = async (t: Test, files: Readonly<Record<string, string>>): Promise<string> => {
  const directory = await temporaryDirectory(t);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return directory;
};

test('a directory without problems: a summary and exit code 0', async (t) => {
  const cwd = await folder(t, { 'flows/good.yaml': good, 'flows/README.md': '#' });
  const valid = { code: 0, stdout: '1 flow is valid: good\n', stderr: '' };
  t.same(await sluice(['flows', 'validate'], { cwd }), valid, 'FLOWS_DIR, which is ./flows');
  t.same(await sluice(['flows', 'validate', 'flows'], { cwd }), valid);
  t.same(await sluice(['flows', 'validate'], { cwd: join(cwd, 'flows'), env: { FLOWS_DIR: '.' } }), valid);
});

test('a line for each problem, with file, line, column and node, and exit code 1', async (t) => {
  const cwd = await folder(t, { 'flows/bad.yaml': bad, 'flows/code.ts': code, 'flows/good.yaml': good });
  const { code: exit, stdout, stderr } = await sluice(['flows', 'validate'], { cwd });
  t.equal(exit, 1);
  const lines = stdout.trim().split('\n');
  t.match(lines, [
    /^flows\/bad\.yaml:3:73 node "small": unknown option "widht"; known: width, /,
    /^flows\/bad\.yaml:4:26 edge "photo" -> "smal": there is no node "smal"/,
    /^flows\/code\.ts:7:5 node "small": option "width" must be >= 1$/,
  ]);
  t.equal(lines.length, 3);
  t.equal(stderr, '3 problems in 2 files\n');
});

test('--json: the same for programs', async (t) => {
  const cwd = await folder(t, { 'flows/bad.yaml': bad, 'flows/good.yaml': good, 'flows/notes.txt': '' });
  const { code: exit, stdout, stderr } = await sluice(['flows', 'validate', '--json'], { cwd });
  t.equal(exit, 1);
  t.match(JSON.parse(stdout), {
    valid: false,
    flows: [{ flowId: 'good', name: 'Good' }],
    problems: [
      { file: 'flows/bad.yaml', line: 3, column: 73, node: 'small', message: /^unknown option "widht"/ },
      { file: 'flows/bad.yaml', line: 4, column: 26, message: /^edge / },
    ],
  });
  t.match(stderr, 'notes.txt is ignored');
  const { stdout: empty } = await sluice(['flows', 'validate', '--json', await folder(t, {})]);
  t.strictSame(JSON.parse(empty), { valid: true, flows: [], problems: [] });
});

test('a directory that is not there is a problem', async (t) => {
  const cwd = await folder(t, {});
  t.match(await sluice(['flows', 'validate', 'none'], { cwd }), { code: 1, stdout: /^none cannot be read: ENOENT/ });
  const { code: exit, stdout } = await sluice(['flows', 'validate', 'none', '--json'], { cwd });
  t.match({ exit, ...JSON.parse(stdout) }, { exit: 1, valid: false, flows: [], problems: [{ file: 'none' }] });
});
