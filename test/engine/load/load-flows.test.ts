import { rename, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'tap';
import { loadFlows } from '../../../src/engine/load/load-flows.ts';
import { folderOf, loadTexts, problemsOf, testKindsUrl } from './flow-folder.ts';
import { testKinds } from './test-kinds.ts';

const flow = (flowId: string) => ({
  flowId,
  name: 'X',
  nodes: { photo: { type: 'source' }, small: { type: 'scale', options: { width: 5 } } },
  edges: [{ source: 'photo', target: 'small' }],
});
const json = (flowId: string) => JSON.stringify(flow(flowId));
const yaml = (flowId: string) => `flowId: ${flowId}
name: X
nodes: { photo: { type: source }, small: { type: scale, options: { width: 5 } } }
edges: [{ source: photo, target: small }]
`;
const code = (flowId: string, width = 5) => `import { defineFlow } from 'sluice';
import { sourceNode, scaleNode } from ${JSON.stringify(testKindsUrl)};
export default defineFlow({
  flowId: '${flowId}',
  name: 'X',
  nodes: [
    sourceNode('photo'),
    scaleNode('small', { width: ${width} }),
  ],
  edges: [{ source: 'photo', target: 'small' }],
});
`;

test('every format gives the same plain definition', async (t) => {
  const texts = {
    '1.ts': code('a'),
    '2.js': code('b'),
    '3.mjs': code('c'),
    '4.json': json('d'),
    '5.yaml': yaml('e'),
    '6.yml': yaml('f'),
  };
  const flows = await loadTexts(t, texts);
  t.same(Object.keys(flows), ['a', 'b', 'c', 'd', 'e', 'f']);
  for (const [flowId, definition] of Object.entries(flows)) t.strictSame(definition, flow(flowId));
  t.equal(flows['constructor'], undefined, 'no flow has the name of a property of all objects');
});

test('$schema is allowed and dropped', async (t) => {
  const flows = await loadTexts(t, { 'a.json': JSON.stringify({ $schema: './flow.schema.json', ...flow('a') }) });
  t.strictSame(flows['a'], flow('a'));
});

test('what lies beside flows is ignored; a warning tells of files of other kinds', async (t) => {
  const warnings: string[] = [];
  const texts = {
    'README.md': '# Flows',
    'readme.yaml': '-',
    'flow.schema.json': '{}',
    'package.json': '{}',
    'tsconfig.json': '{}',
    'types.d.ts': '',
    '.hidden.yaml': '-',
    'lib/part.yaml': '-',
    'folder.yaml/part': '-',
    'notes.txt': '-',
    'a.yaml': yaml('a'),
  };
  const flows = await loadTexts(t, texts, { log: { warn: (message) => warnings.push(message) } });
  t.same(Object.keys(flows), ['a']);
  t.match(warnings, [/notes\.txt is ignored/]);
  t.equal(warnings.length, 1);
});

test('a Kubernetes ConfigMap, links into a folder that is a link itself', async (t) => {
  const directory = await folderOf(t, { '..2026_11_20/a.yaml': yaml('a'), '..2026_11_20/b.ts': code('b', 0) });
  await symlink('..2026_11_20', join(directory, '..data'));
  await symlink(join('..data', 'a.yaml'), join(directory, 'a.yaml'));
  const options = { directory, kinds: testKinds, onError: 'fail' } as const;
  t.same(Object.keys(await loadFlows(options)), ['a']);
  await symlink(join('..data', 'b.ts'), join(directory, 'b.ts'));
  await t.rejects(loadFlows(options), {
    message: `${directory}/b.ts:8:5 node "small": option "width" must be >= 1`,
  });
});

test('the problems of all files come together, each with its file, line and node', async (t) => {
  const texts = {
    'a.yaml': yaml('a').replace('width', 'widht'),
    'b.json': json('b').replace('"scale"', '"scal"'),
    'c.ts': code('c', 0),
    'd.mjs': 'throw new Error("boom")',
    'e.yaml': yaml('e'),
  };
  const [a, b, ...others] = await problemsOf(t, texts);
  t.match(a, /^flows\/a\.yaml:3:68 node "small": unknown option "widht"; known: width/);
  t.match(b, /^flows\/b\.json:1:\d+ node "small": unknown type "scal"/);
  t.same(others, ['flows/c.ts:8:5 node "small": option "width" must be >= 1', 'flows/d.mjs:1:7 boom']);
});

test('the same flowId in two files names both', async (t) => {
  t.same(await problemsOf(t, { 'a.yaml': `\n${yaml('x')}`, 'b.ts': code('x'), 'c.json': json('y') }), [
    'flows/b.ts:3:16 flowId "x" is already taken by flows/a.yaml:2',
  ]);
});

test('skip: files with problems are left out and logged, one line per problem', async (t) => {
  const warnings: string[] = [];
  const texts = { 'a.yaml': yaml('a'), 'b.yaml': yaml('a'), 'c.json': '{', 'd.json': json('d') };
  const flows = await loadTexts(t, texts, { onError: 'skip', log: { warn: (message) => warnings.push(message) } });
  t.same(Object.keys(flows), ['a', 'd']);
  t.match(warnings, [/^Flow left out: .*b\.yaml:1:1 flowId "a" is already taken by .*a\.yaml:1$/, /c\.json:1:2 /]);
});

test('files are named from the working directory when they lie below it', async (t) => {
  const directory = t.testdir({ 'a.json': '[]' });
  const shown = join(relative(process.cwd(), directory), 'a.json');
  const options = { directory, kinds: testKinds, onError: 'fail' } as const;
  await t.rejects(loadFlows(options), { message: `${shown}:1:1 must be object` });
});

test('a file that cannot be read is a problem of that file', async (t) => {
  const directory = await folderOf(t, { 'a.yaml': yaml('a') });
  await symlink('nowhere.yaml', join(directory, 'b.yaml'));
  await writeFile(join(directory, 'c.json'), ' '.repeat(256 * 1024 + 1));
  await symlink('nowhere.ts', join(directory, 'd.ts'));
  const error: unknown = await loadFlows({ directory, kinds: testKinds, onError: 'fail' }).catch((thrown) => thrown);
  t.match(error, {
    problems: [
      { file: join(directory, 'b.yaml'), message: /^cannot be read: ENOENT/ },
      { file: join(directory, 'c.json'), message: 'cannot be read: it has 262145 bytes, more than 262144' },
      { file: join(directory, 'd.ts'), message: /^cannot be read: ENOENT/ },
    ],
  });
});

test('a folder that is not there is an error also for skip; an empty one is no flows', async (t) => {
  const directory = await folderOf(t, {});
  const options = { directory, kinds: testKinds, onError: 'skip' } as const;
  t.same(Object.keys(await loadFlows(options)), []);
  await rename(directory, `${directory}-gone`);
  t.teardown(() => rename(`${directory}-gone`, directory));
  await t.rejects(loadFlows(options), { name: 'FlowLoadError', message: `${directory} cannot be read: ENOENT` });
});
