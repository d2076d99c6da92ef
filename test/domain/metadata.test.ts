import t from 'tap';
import { readMetadata } from '../../src/domain/metadata.ts';

t.test('every form that clients send is read', (t) => {
  t.strictSame(readMetadata(undefined), {});
  t.strictSame(readMetadata(''), {});
  t.strictSame(readMetadata({ a: 1 }), { a: 1 });
  t.strictSame(readMetadata('{"a": "ü"}'), { a: 'ü' });
  t.strictSame(readMetadata(Buffer.from('{"a": "ü"}').toString('base64')), { a: 'ü' });
  t.strictSame(readMetadata(`name ${Buffer.from('ü').toString('base64')},flag, other eA==`), {
    name: 'ü',
    flag: '',
    other: 'x',
  });
  t.end();
});

t.test('anything else is refused', (t) => {
  for (const value of ['{"a":', '[1]', 'name not-base64!', 'a b c', 7, null, [1]]) {
    t.throws(() => readMetadata(value), { code: 'INVALID_METADATA' }, JSON.stringify(value));
  }
  t.end();
});

t.test('no metadata reaches the prototype', (t) => {
  const read = readMetadata('{"__proto__": {"polluted": true}, "a": 1}');
  t.strictSame(Object.keys(read), ['a']);
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
  t.end();
});
