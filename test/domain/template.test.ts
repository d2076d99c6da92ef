import { test } from 'tap';
import type { ParamsSchema } from '../../src/domain/params.ts';
import { checkTemplates, expandTemplates, hasTemplate, namesFile, namesHash } from '../../src/domain/template.ts';

const values = {
  flow: { id: 'thumb', name: 'Thumb' },
  job: { id: 'j1' },
  node: { id: 'small' },
  params: { width: 640, sharp: true, names: ['a', 'b'], deep: { x: 0 }, evil: '{{job.id}}', nothing: null },
  file: { name: 'cat.tar.gz', baseName: 'cat.tar', extension: 'gz', mimeType: 'image/jpeg', size: 12 },
  meta: { width: 100 },
  index: 0,
  date: { yyyy: '2026', mm: '03', dd: '09' },
};
const expand = (value: unknown) => expandTemplates(value, values, 'text');

const params: ParamsSchema = {
  type: 'object',
  properties: {
    width: { type: 'integer' },
    size: { type: 'object', properties: { height: { type: 'integer' } } },
    list: { type: 'array', items: { type: 'string' } },
    any: { type: 'object', additionalProperties: true },
  },
};
const check = (value: unknown, context: Parameters<typeof checkTemplates>[1] = { params, files: true }) =>
  checkTemplates(value, context).map(({ path, message }) => `${path.join('.')} ${message}`.trim());

test('a template becomes text in text, and the value itself where it is alone', async (t) => {
  t.equal(expand('{{file.baseName}}-{{params.width}}.{{file.extension}}'), 'cat.tar-640.gz');
  t.equal(expand('{{date.yyyy}}/{{date.mm}}/{{date.dd}} {{index}} {{params.sharp}}'), '2026/03/09 0 true');
  t.equal(expand('{{params.names}}!'), 'a, b!');
  t.strictSame(
    ['{{params.width}}', '{{ params.sharp }}', '{{\tindex\n}}', '{{params.names}}', '{{params.names.1}}'].map(expand),
    [640, true, 0, ['a', 'b'], 'b'],
  );
});

test('values inside of lists and objects are expanded, keys are not, and other values stay', async (t) => {
  const value = { '{{job.id}}': ['{{job.id}}', 5, null, true, { at: 'x{{index}}' }], plain: 'a } b {' };
  t.strictSame(expand(value), { '{{job.id}}': ['j1', 5, null, true, { at: 'x0' }], plain: 'a } b {' });
  t.equal(expand(''), '');
});

test('what a value holds is not expanded again', async (t) => {
  t.equal(expand('{{params.evil}}'), '{{job.id}}');
  t.equal(expand('<{{params.evil}}>'), '<{{job.id}}>');
});

const missing = [
  'params.height',
  'params.nothing',
  'params.width.x',
  'params.names.length',
  'params.names.7',
  'client.id',
  'constructor',
  'constructor.name',
  'file.__proto__',
  '__proto__.file',
  'params.constructor',
  'params.names.map',
  'meta.toString',
  '',
  ' . ',
  'file. name',
  '1 + 1',
  "file['name']",
];
for (const path of missing) {
  test(`{{${path}}} has no value`, async (t) => {
    const template = `{{${path}}}`;
    t.throws(() => expand(`a ${template}`), {
      code: 'INVALID_PARAMS',
      message: `option "text": ${template} has no value`,
      details: { option: 'text', template },
    });
    t.throws(() => expand({ deep: [template] }), { code: 'INVALID_PARAMS' });
  });
}

test('objects are never values: one of them could be a secret', async (t) => {
  const message = 'option "text": {{params.deep}} is neither text, nor a number, nor a list of these';
  t.throws(() => expand('{{params.deep}}'), { code: 'INVALID_PARAMS', message });
  t.throws(() => expandTemplates('{{params.a}}', { params: { a: [{ secret: 'X' }] } }, 'text'), {
    code: 'INVALID_PARAMS',
  });
  t.throws(() => expand('{{file}}'), { code: 'INVALID_PARAMS' });
});

test('an expanded text is bounded', async (t) => {
  const long = { params: { text: 'x'.repeat(60_000) } };
  t.equal(String(expandTemplates('{{params.text}}', long, 'text')).length, 60_000);
  t.throws(() => expandTemplates('{{params.text}}'.repeat(10_000), long, 'text'), {
    code: 'INVALID_PARAMS',
    message: 'option "text" has more than 65536 characters with its templates expanded',
  });
});

test('an open template is an error, not text', async (t) => {
  t.throws(() => expand('a {{file.name'), { code: 'INVALID_PARAMS', message: 'option "text" has {{ without }}' });
  t.same(check('a {{file.name'), ['has {{ without }}']);
  t.same(check('{{file.name}} {{'), ['has {{ without }}']);
});

test('what is known before a job is accepted', async (t) => {
  const right = `{{flow.id}}{{flow.name}}{{job.id}}{{node.id}}{{client.id}}{{file.name}}{{file.baseName}}
    {{file.extension}}{{file.mimeType}}{{file.size}}{{file.hash}}{{meta.width}}{{meta.exif.camera}}{{index}}{{date.yyyy}}
    {{date.mm}}{{ date.dd }}{{params.width}}{{params.size.height}}{{params.list}}{{params.list.0}}{{params.any.x.y}}`;
  t.same(check(right), []);
  t.same(check({ plain: 5, text: 'no braces', list: [null, true] }), []);
});

const wrong: readonly (readonly [text: string, message: string])[] = [
  ['{{files.name}}', 'unknown name "files"; known: flow, job, node, client, params, file, meta, index, date'],
  ['{{constructor}}', 'unknown name "constructor"; known: flow, job, node, client, params, file, meta, index, date'],
  [
    '{{file.foo}}',
    'unknown name "file.foo"; known: file.name, file.baseName, file.extension, file.mimeType, file.size, file.hash',
  ],
  [
    '{{file.__proto__}}',
    'unknown name "file.__proto__"; known: file.name, file.baseName, file.extension, file.mimeType, file.size, file.hash',
  ],
  [
    '{{file.name.length}}',
    'unknown name "file.name.length"; known: file.name, file.baseName, file.extension, file.mimeType, file.size, file.hash',
  ],
  ['{{file}}', 'it names no part of "file"'],
  ['{{meta}}', 'it names no part of "meta"'],
  ['{{index.x}}', '"index" has no parts'],
  ['{{params.heigth}}', 'unknown parameter "heigth"; known: width, size, list, any'],
  ['{{params.__proto__}}', 'unknown parameter "__proto__"; known: width, size, list, any'],
  ['{{params.list.length}}', 'unknown parameter "list.length"; known: width, size, list, any'],
  ['{{params.size}}', 'it is an object; name a part of it'],
  ['{{}}', 'it must be a name such as file.name'],
  ['{{file.size > 5}}', 'it must be a name such as file.name'],
  ['{{{file.name}}}', 'it must be a name such as file.name'],
];
for (const [text, message] of wrong) {
  test(`known to be wrong: ${text}`, async (t) => {
    const shown = text === '{{{file.name}}}' ? '{{{file.name}}' : text;
    t.same(check({ options: ['x', `a ${text}`] }), [`options.1 has the template ${shown}: ${message}`]);
  });
}

test('a long template is shortened in what is said of it', async (t) => {
  t.match(check(`{{${'x'.repeat(1000)}}}`), [/^has the template \{\{x{78}\.\.\.: it must be a name/]);
});

test('where the flow begins there is no file; a flow without params has none', async (t) => {
  for (const text of ['{{file.name}}', '{{meta.width}}', '{{index}}']) {
    t.same(check(text, { files: false }), [`has the template ${text}: there is no file yet where the flow begins`]);
  }
  t.same(check('{{params.width}}', { files: false }), ['has the template {{params.width}}: the flow has no params']);
});

test('a secret cannot be named by a template', async (t) => {
  t.same(check({ secret: { secret: '{{params.width}}' } }), ['secret.secret cannot name a secret by a template']);
  t.same(check({ secret: 'x{{params.width}}' }), ['secret cannot name a secret by a template']);
});

test('templates, and those that name a file, are found anywhere in a value', async (t) => {
  for (const value of ['{{job.id}}', ['{{job.id}}'], { a: [{ b: '{{' }] }]) t.ok(hasTemplate(value));
  for (const value of ['{ {', 5, null, undefined, { '{{job.id}}': 'x' }]) t.notOk(hasTemplate(value));
  for (const value of ['{{file.name}}', [{ a: 'x{{ meta.width }}' }], '{{job.id}}{{index}}']) t.ok(namesFile(value));
  t.ok(namesHash([{ a: 'x{{ file.hash }}' }]));
  for (const value of ['{{file.name}}', 'file.hash', '{{params.file.hash}}']) t.notOk(namesHash(value), value);
  for (const value of ['{{job.id}}', 'file.name', '{{files.name}}', 5]) t.notOk(namesFile(value));
});

test('strings full of braces take linear time', async (t) => {
  const hostile = [
    '{'.repeat(200_000),
    '{{}}'.repeat(50_000),
    '{{ '.repeat(70_000),
    `${'{{'.repeat(90_000)}}}`,
    '}}{{'.repeat(50_000),
  ];
  const began = performance.now();
  for (const text of hostile) {
    hasTemplate(text);
    namesFile(text);
    check(text);
    t.throws(() => expand(text), { code: 'INVALID_PARAMS' });
  }
  t.ok(performance.now() - began < 2000, `${performance.now() - began} ms`);
});
