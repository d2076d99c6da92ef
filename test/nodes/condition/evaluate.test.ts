import t from 'tap';
import { type Condition, evaluate } from '../../../src/nodes/condition/evaluate.ts';
import type { KnownFile } from '../../../src/nodes/condition/facts.ts';

const photo: KnownFile = {
  fileName: 'Holiday.2026.JPG',
  mimeType: 'image/jpeg',
  size: 2_000_000,
  meta: { width: 4000, height: 2000, pages: 1, hasAlpha: false, orientation: 6, place: 'Oslo' },
};
const document: KnownFile = {
  fileName: 'letter',
  mimeType: 'Application/PDF; version=2',
  size: 10,
  meta: { pages: 3 },
};

type Operator = Condition['operator'];

const ask = (field: string, operator: Operator, value?: Condition['value'], file = photo) =>
  evaluate([{ field, operator, ...(value !== undefined && { value }) }], 'all', file);

t.test('every field of a file has its value', async (t) => {
  const facts = {
    'file.name': 'Holiday.2026.JPG',
    'file.extension': 'jpg',
    'file.mimeType': 'image/jpeg',
    'file.size': 2_000_000,
    'meta.width': 4000,
    'meta.height': 2000,
    'meta.megapixels': 8,
    'meta.aspectRatio': 2,
    'meta.format': 'jpeg',
    'meta.pages': 1,
    'meta.hasAlpha': false,
    'meta.orientation': 6,
    'meta.place': 'Oslo',
  };
  for (const [field, value] of Object.entries(facts)) {
    t.equal(ask(field, 'eq', value), true, field);
    t.equal(ask(field, 'ne', value), false, field);
    t.equal(ask(field, 'eq', typeof value === 'number' ? value + 1 : `${value}x`), false, field);
  }
  t.equal(ask('file.mimeType', 'eq', 'application/pdf', document), true, 'without parameters');
  t.equal(ask('file.extension', 'eq', '', document), true);
});

t.test('every operator decides', async (t) => {
  const rows: readonly [string, Operator, Condition['value'], Condition['value']][] = [
    ['meta.width', 'eq', 4000, 4001],
    ['meta.width', 'eq', '4000', 'many'],
    ['meta.hasAlpha', 'eq', 'false', true],
    ['meta.width', 'ne', 4001, 4000],
    ['meta.width', 'gt', 3999, 4000],
    ['meta.width', 'gte', 4000, 4001],
    ['meta.width', 'lt', 4001, 4000],
    ['meta.width', 'lte', 4000, 3999],
    ['file.size', 'gt', '1.9mb', '2mb'],
    ['file.size', 'eq', '2MB', '2MiB'],
    ['meta.width', 'in', [1, 4000], [1, 2]],
    ['meta.place', 'in', ['Oslo', 'Bergen'], ['Bergen']],
    ['meta.width', 'notIn', [1, 2], [1, 4000]],
    ['file.name', 'startsWith', 'Holi', 'holi'],
    ['file.name', 'endsWith', '.JPG', '.jpg'],
    ['file.name', 'contains', '2026', '2027'],
    ['file.name', 'matches', '*.20??.*', '*.20?.*'],
    ['meta.place', 'exists', true, false],
  ];
  for (const [field, operator, yes, no] of rows) {
    t.equal(ask(field, operator, yes), true, `${field} ${operator} ${yes}`);
    t.equal(ask(field, operator, no), false, `${field} ${operator} ${no}`);
  }
  t.equal(ask('meta.place', 'exists'), true, 'exists needs no value');
});

t.test('extensions and media types have no case', async (t) => {
  t.equal(ask('file.extension', 'in', ['PNG', 'JPG']), true);
  t.equal(ask('file.mimeType', 'matches', 'IMAGE/*'), true);
});

t.test('values of another type are never in an order', async (t) => {
  t.equal(ask('meta.place', 'gt', 1), false);
  t.equal(ask('meta.width', 'gt', 'wide'), false);
  t.equal(ask('meta.width', 'startsWith', '4'), false);
});

t.test('of a field that the file does not have nothing is true', async (t) => {
  for (const operator of ['eq', 'ne', 'gt', 'lt', 'startsWith', 'contains', 'matches'] as const) {
    t.equal(ask('meta.width', operator, 'x', document), false, operator);
  }
  for (const operator of ['in', 'notIn'] as const)
    t.equal(ask('meta.width', operator, ['x'], document), false, operator);
  t.equal(ask('meta.width', 'exists', true, document), false);
  t.equal(ask('meta.width', 'exists', false, document), true);
  t.equal(ask('meta.megapixels', 'gt', 0, document), false);
  t.equal(ask('meta.format', 'eq', 'pdf', document), false, 'a format is that of a picture');
  t.equal(ask('meta.constructor', 'exists', true), false);
});

t.test('what a header would tell is open until it has been read', async (t) => {
  const upload: KnownFile = { fileName: 'a.png', mimeType: 'image/png', size: 5 };
  for (const name of ['width', 'height', 'megapixels', 'aspectRatio', 'pages', 'hasAlpha', 'orientation']) {
    t.equal(ask(`meta.${name}`, 'exists', true, upload), undefined, name);
    t.equal(ask(`meta.${name}`, 'exists', true, { ...upload, looked: true }), false, name);
  }
  t.equal(ask('meta.format', 'eq', 'png', upload), true, 'the media type tells the format');
  t.equal(ask('meta.page', 'exists', true, upload), false, 'no header tells a page');
});

t.test('one condition may decide for all', async (t) => {
  const upload: KnownFile = { fileName: 'a.png', mimeType: 'image/png', size: 5 };
  const open: Condition = { field: 'meta.width', operator: 'gt', value: 1 };
  const small: Condition = { field: 'file.size', operator: 'lt', value: 10 };
  const large: Condition = { field: 'file.size', operator: 'gt', value: 10 };
  const both = [small, large];
  t.equal(evaluate(both, 'all', upload), false);
  t.equal(evaluate(both, 'any', upload), true);
  t.equal(evaluate([small, open], 'all', upload), undefined);
  t.equal(evaluate([large, open], 'all', upload), false);
  t.equal(evaluate([small, open], 'any', upload), true);
  t.equal(evaluate([large, open], 'any', upload), undefined);
});
