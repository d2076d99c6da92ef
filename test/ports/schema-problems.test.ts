import { test } from 'tap';
import { type TSchema, Type } from 'typebox';
import { Settings } from 'typebox/system';
import { schemaProblems } from '../../src/ports/schema-problems.ts';

const strict = { additionalProperties: false };
const said = (schema: TSchema, value: unknown) =>
  schemaProblems(schema, value).map(({ path, message }) => `${path.join('.')}: ${message}`);

test('a right value has no problems', async (t) => t.same(said(Type.Object({ a: Type.Integer() }), { a: 1 }), []));

test('unknown keys: one problem each, with the known ones', async (t) => {
  const schema = Type.Object({ list: Type.Array(Type.Object({ a: Type.Optional(Type.Integer()) }, strict)) }, strict);
  t.same(schemaProblems(schema, { list: [{ b: 1, 'c/d~e': 2 }] }), [
    { path: ['list', 0, 'b'], about: { is: 'unknown', key: 'b', known: ['a'] }, message: 'unknown' },
    { path: ['list', 0, 'c/d~e'], about: { is: 'unknown', key: 'c/d~e', known: ['a'] }, message: 'unknown' },
  ]);
});

test('missing keys: one problem each', async (t) => {
  t.same(schemaProblems(Type.Object({ a: Type.Integer(), b: Type.Integer() }), {}), [
    { path: [], about: { is: 'missing', key: 'a' }, message: 'missing' },
    { path: [], about: { is: 'missing', key: 'b' }, message: 'missing' },
  ]);
});

test('words and numbers to choose from are listed', async (t) => {
  t.same(said(Type.Enum(['a', 'b']), 'c'), [': must be one of "a", "b"']);
  t.same(said(Type.Union([Type.Literal('a'), Type.Literal(90)]), 'c'), [': must be one of "a", 90']);
  t.same(said(Type.Union([Type.Literal('a'), Type.Literal('b')]), 5), [': must be one of "a", "b"']);
  t.same(said(Type.Literal('a'), 'c'), [': must be "a"']);
});

test('a union says what each of its forms wanted, once', async (t) => {
  const schema = Type.Object({
    side: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: '%$' }), Type.Literal('auto')]),
  });
  t.same(said(schema, { side: 'x' }), ['side: must be integer, or must match pattern "%$", or must be "auto"']);
  const objects = Type.Union([Type.Object({ a: Type.Object({ b: Type.Integer() }) }), Type.Array(Type.Integer())]);
  t.same(said(objects, { a: { b: 'x' } }), [': must be array']);
  t.same(said(Type.Union([Type.Object({ a: Type.Integer() })]), { a: 'x' }), [': has none of the allowed forms']);
});

test('more problems than TypeBox counts by default, whose setting stays as it was', async (t) => {
  const { maxErrors } = Settings.Get();
  t.equal(said(Type.Array(Type.Integer()), Array(50).fill('x')).length, 50);
  t.equal(Settings.Get().maxErrors, maxErrors);
});
