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

t.test('the type is told as soon as its bytes have passed', async (t) => {
  const png = Buffer.alloc(headLength);
  png.write('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
  const head = new Head(true);
  head.add(png.subarray(0, 100));
  t.strictSame(await head.type(), {}, 'not before');
  head.add(png.subarray(100));
  t.strictSame(await head.type(), { sniffed: true, detectedType: 'image/png' });
  const text = new Head(true);
  text.add(Buffer.alloc(headLength, 'text'));
  t.strictSame(await text.type(), { sniffed: true }, 'some tell none');
  t.strictSame(await new Head(false).type(), {});
});
