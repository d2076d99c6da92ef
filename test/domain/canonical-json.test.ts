import t from 'tap';
import { canonicalJson } from '../../src/domain/canonical-json.ts';

t.test('what means the same is the same text', (t) => {
  const text = '{"a":[1,{"x":null,"y":"ü"}],"b":{},"c":true}';
  t.equal(canonicalJson({ c: true, b: {}, a: [1, { y: 'ü', x: null }] }), text);
  t.equal(canonicalJson({ a: [1.0, { x: null, y: 'ü', z: undefined }], b: {}, c: true, d: undefined }), text);
  t.end();
});

t.test('what means something else is not', (t) => {
  const texts = [{ a: [1, 2] }, { a: [2, 1] }, { a: '1' }, { a: 1 }, { a: null }, {}, [], { ['__proto__']: 1 }].map(
    canonicalJson,
  );
  t.equal(new Set(texts).size, texts.length);
  t.end();
});

t.test('a value of too many levels is refused', (t) => {
  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  t.equal(canonicalJson(nested(64)).length, 128);
  for (const levels of [65, 20_000]) t.throws(() => canonicalJson(nested(levels)), { code: 'VALIDATION_ERROR' });
  t.end();
});
