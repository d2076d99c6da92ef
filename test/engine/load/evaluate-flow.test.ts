import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { evaluateFlow } from '../../../src/engine/load/evaluate-flow.ts';
import { folderOf, testKindsUrl } from './flow-folder.ts';

const evaluate = async (t: Test, name: string, text: string, timeLimit?: number) =>
  evaluateFlow(join(await folderOf(t, { [name]: text }), name), `flows/${name}`, timeLimit);

const imports = `import { defineFlow } from 'sluice';
import { sourceNode, scaleNode } from ${JSON.stringify(testKindsUrl)};
`;

const twoNodes = `${imports}export default defineFlow({
  flowId: 'x',
  name: 'X',
  nodes: [
    sourceNode('photo'),
    scaleNode(
      'small', { width: 5 }, { keepOutput: true }),
  ],
  edges: [{ source: 'photo', target: 'small' }],
});
`;

const definition = {
  flowId: 'x',
  name: 'X',
  nodes: { photo: { type: 'source' }, small: { type: 'scale', options: { width: 5 }, keepOutput: true } },
  edges: [{ source: 'photo', target: 'small' }],
};

for (const extension of ['ts', 'js', 'mjs']) {
  test(`.${extension}: the plain definition, and the lines of the constructors`, async (t) => {
    const { value, problems, locate } = await evaluate(t, `x.${extension}`, twoNodes);
    const file = `flows/x.${extension}`;
    t.strictSame(value, definition);
    t.same(problems, []);
    t.same(locate(['nodes', 'small', 'options', 'width']), { file, line: 8, column: 5 });
    t.same(locate(['edges', 0]), { file, line: 3, column: 16 });
  });
}

test('the file is called by the name that people know, not by where its links lead', async (t) => {
  const directory = await folderOf(t, { '..data/x.mjs': twoNodes });
  await symlink(join('..data', 'x.mjs'), join(directory, 'x.mjs'));
  const { locate } = await evaluateFlow(join(directory, 'x.mjs'), 'flows/x.mjs');
  t.same(locate(['nodes', 'photo']), { file: 'flows/x.mjs', line: 7, column: 5 });
});

test('a node made in another file is at the line of the flow that asked for it', async (t) => {
  const directory = await folderOf(t, {
    'lib/small.ts': `${imports}export const small = (id: string) => scaleNode(id, { width: 5 });`,
    'x.ts': `import { small } from './lib/small.ts';\n${imports}
export default defineFlow({ flowId: 'x', name: 'X', edges: [], nodes: [
  small('a'),
]});`,
  });
  const { locate } = await evaluateFlow(join(directory, 'x.ts'), 'flows/x.ts');
  t.same(locate(['nodes', 'a']), { file: 'flows/x.ts', line: 6, column: 3 });
});

test('a plain object may be exported too', async (t) => {
  const { value, locate } = await evaluate(t, 'x.mjs', 'export default { flowId: "x", version: undefined }');
  t.strictSame(value, { flowId: 'x' });
  t.same(locate(['flowId']), { file: 'flows/x.mjs' });
});

test('what a flow prints, leaves open or starts does not matter', async (t) => {
  const noise = `process.stdout.write('x'.repeat(1e6)); console.error('y'.repeat(1e6)); setInterval(() => {}, 1000);\n`;
  const { value } = await evaluate(t, 'x.ts', twoNodes.replace('export', `${noise}export`));
  t.strictSame(value, definition);
});

test('a flow sees nothing of the environment', async (t) => {
  process.env['SECRET_OF_THE_SERVER'] = 'secret';
  const { value } = await evaluate(t, 'x.mjs', 'export default { ...process.env }');
  t.notMatch(value, { SECRET_OF_THE_SERVER: 'secret' });
  t.notOk(Object.hasOwn(value as object, 'PATH'));
});

test('sluice is light: it brings no server and no image library', async (t) => {
  const listing = `import { registerHooks } from 'node:module';
const urls = [];
registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
await import('sluice');
export default { urls };`;
  const { value } = await evaluate(t, 'x.mjs', listing);
  const { urls } = value as { urls: string[] };
  t.ok(urls.some((url) => url.endsWith('src/index.ts')));
  t.same(
    urls.filter((url) => /node_modules\/(?!typebox\/)/.test(url)),
    [],
  );
});

const failures: readonly (readonly [title: string, name: string, text: string, problem: object])[] = [
  ['an error', 'x.ts', '\n  throw new Error("boom")', { message: 'boom', place: { line: 2, column: 9 } }],
  ['something thrown that is no error', 'x.mjs', 'throw 5', { message: 'threw 5', place: { file: 'flows/x.mjs' } }],
  ['a syntax error of JavaScript', 'x.mjs', 'export default {\n  a: 1,,\n}', { place: { line: 2, column: 8 } }],
  ['a syntax error of TypeScript', 'x.ts', 'export default {\n  a: 1,,\n}', { place: { line: 2, column: 8 } }],
  ['TypeScript that cannot be erased', 'x.ts', '\nenum A { B }', { message: /enum/, place: { line: 2, column: 1 } }],
  ['an import that is not there', 'x.ts', 'import "./no.ts"', { message: /no\.ts/, place: { file: 'flows/x.ts' } }],
  [
    'a constructor that sluice does not have',
    'x.ts',
    '\nimport { resizNode } from "sluice"; resizNode()',
    { message: /resizNode/, place: { file: 'flows/x.ts', line: 2, column: 10 } },
  ],
  ['no default export', 'x.mjs', 'export const a = 1', { message: /has no default export/ }],
  ['an exit', 'x.mjs', 'process.exit(0)', { message: /ended its process .*exit code 0/ }],
  ['a wait without end', 'x.mjs', 'await new Promise(() => {})', { message: /waits at its top level/ }],
  ['a function as an option', 'x.mjs', 'export default { a: { b() {} } }', { message: /"a.b" is a function/ }],
  [
    'a node that is defined twice',
    'x.ts',
    twoNodes.replace("'small'", "'photo'"),
    { message: 'node "photo" is defined twice', place: { file: 'flows/x.ts', line: 8, column: 5 } },
  ],
];

for (const [title, name, text, problem] of failures) {
  test(`refused: ${title}`, async (t) => {
    const { problems } = await evaluate(t, name, text);
    t.match(problems, [problem]);
    t.equal(problems.length, 1);
  });
}

test('a loop without end is ended', async (t) => {
  const { problems } = await evaluate(t, 'x.mjs', 'for (;;);', 700);
  t.match(problems, [{ message: 'was not evaluated within 0.7 s', place: { file: 'flows/x.mjs' } }]);
});
