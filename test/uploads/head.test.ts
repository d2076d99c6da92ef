import t from 'tap';
import { Head, headLength } from '../../src/uploads/head.ts';

t.test('the head is known once enough of the file has come by', (t) => {
  const head = new Head(true);
  head.add(Buffer.alloc(3000, 'a'));
  t.strictSame(head.known(5000), {});
  head.add(Buffer.alloc(3000, 'b'));
  t.equal(head.known(6000).head?.length, headLength);
  t.equal(head.known(6000).head?.at(-1), 'b'.charCodeAt(0));
  t.end();
});

t.test('a small file is all head', (t) => {
  const head = new Head(true);
  head.add(Buffer.from('tiny'));
  t.equal(head.known(4).head?.toString(), 'tiny');
  t.strictSame(head.known(5), {}, 'one byte has not come by here');
  t.end();
});

t.test('what does not begin at the first byte has no head', (t) => {
  const head = new Head(false);
  head.add(Buffer.from('tail'));
  t.strictSame(head.known(4), {});
  t.end();
});
