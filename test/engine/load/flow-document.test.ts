import { test } from 'tap';
import { readJson, readYaml } from '../../../src/engine/load/flow-document.ts';

test('YAML: a path is where its key begins, or the nearest part around it', async (t) => {
  const { value, locate } = readYaml('a: 1\nnodes:\n  small:\n    - x\n    - { b: 2 }\n', 'f.yaml');
  t.same(value, { a: 1, nodes: { small: ['x', { b: 2 }] } });
  t.same(locate(['nodes', 'small']), { file: 'f.yaml', line: 3, column: 3 });
  t.same(locate(['nodes', 'small', 1]), { file: 'f.yaml', line: 5, column: 7 });
  t.same(locate(['nodes', 'small', 1, 'b']), { file: 'f.yaml', line: 5, column: 9 });
  t.same(locate(['nodes', 'missing', 'too']), { file: 'f.yaml', line: 2, column: 1 });
  t.same(locate([]), { file: 'f.yaml', line: 1, column: 1 });
});

test('YAML: aliases are followed to what they stand for', async (t) => {
  const { value, locate } = readYaml('a: &a { b: 1 }\nc: *a\n', 'f.yaml');
  t.same(value, { a: { b: 1 }, c: { b: 1 } });
  t.same(locate(['c', 'b']), { file: 'f.yaml', line: 1, column: 9 });
});

const yamlRefusals: readonly (readonly [title: string, text: string, problem: object])[] = [
  ['a key twice', 'a: 1\nb: 2\na: 3', { message: 'Map keys must be unique', place: { line: 3, column: 1 } }],
  ['an unknown tag', 'a: !secret x', { message: 'Unresolved tag: !secret', place: { line: 1, column: 4 } }],
  ['two documents', 'a: 1\n---\nb: 2', { message: /multiple documents/, place: { line: 2, column: 1 } }],
  ['wrong indentation', 'a: 1\n  b: 2', { place: { line: 1, column: 4 } }],
  ['an alias without an anchor', 'a: *b', { message: /Unresolved alias/ }],
  ['an alias to what it is in', 'a: &a\n  b: *a', { message: /contains itself/ }],
];

for (const [title, text, problem] of yamlRefusals) {
  test(`YAML refused: ${title}`, async (t) => t.match(readYaml(text, 'f.yaml').problems, [problem]));
}

test('YAML: aliases of aliases are refused before they fill the memory', async (t) => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const items =
      level === 0
        ? 'x,x,x,x,x,x,x,x,x'
        : Array(9)
            .fill(`*l${level - 1}`)
            .join(',');
    return `l${level}: &l${level} [${items}]`;
  });
  const before = process.memoryUsage().rss;
  t.match(readYaml(levels.join('\n'), 'f.yaml').problems, [{ message: /alias count/ }]);
  t.ok(process.memoryUsage().rss - before < 100e6);
});

test('YAML: endless nesting is refused, in few words', async (t) => {
  const { problems } = readYaml('['.repeat(20_000), 'f.yaml');
  t.ok(problems.length > 0 && problems.length <= 10);
});

test('JSON: tabs, a byte order mark and escapes', async (t) => {
  const { value, problems, locate } = readJson('\uFEFF{\n\t"a": {\n\t\t"b\\/": [1]\n\t}\n}', 'f.json');
  t.same(value, { a: { 'b/': [1] } });
  t.same(problems, []);
  t.same(locate(['a', 'b/', 0]), { file: 'f.json', line: 3, column: 11 });
});

const jsonRefusals: readonly (readonly [title: string, text: string, problem: object])[] = [
  ['a trailing comma', '{\n  "a": 1,\n}', { message: /property name/, place: { line: 3, column: 1 } }],
  ['a comment', '{\n  // why\n}', { place: { line: 2, column: 3 } }],
  ['YAML', 'a: 1', { message: "Unexpected token 'a'", place: { line: 1, column: 1 } }],
  [
    'a value that is none',
    '{\n  "a": [NaN, 1],\n  "b": [NaN, 1]\n}',
    { message: "Unexpected token 'N'", place: { line: 2, column: 9 } },
  ],
  ['a comma too many in a list', '[\n  1,\n]', { message: "Unexpected token ']'", place: { line: 3, column: 1 } }],
  ['an end too early', '{\n  "a": [', { message: /end of JSON/, place: { line: 2, column: 9 } }],
  ['nothing', '', { place: { line: 1, column: 1 } }],
  ['a key twice', '{\n  "a": 1,\n  "a": 2\n}', { message: 'this key is there twice', place: { line: 3, column: 3 } }],
];

for (const [title, text, problem] of jsonRefusals) {
  test(`JSON refused: ${title}`, async (t) => t.match(readJson(text, 'f.json').problems, [problem]));
}
