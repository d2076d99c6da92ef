import { createHash } from 'node:crypto';
import t from 'tap';
import { createDigests } from '../../src/uploads/digests.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

t.test('a hash goes on where the body before it has ended, and nowhere else', async (t) => {
  const digests = createDigests();
  const first = digests.resume('a', 0)?.update('hello');
  if (first !== undefined) digests.keep('a', 5, first);
  t.equal(digests.resume('a', 4), undefined);
  t.equal(digests.resume('b', 5), undefined);
  t.equal(digests.resume('a', 5)?.update('world').digest('hex'), sha256('helloworld'));
  t.equal(digests.resume('a', 5)?.update('there').digest('hex'), sha256('hellothere'), 'also after a roll-back');
  t.equal(digests.resume('a', 0)?.digest('hex'), sha256(''), 'the beginning needs no memory');
  digests.forget('a');
  t.equal(digests.resume('a', 5), undefined);
});

t.test('the oldest are forgotten', async (t) => {
  const digests = createDigests();
  for (let index = 0; index <= 10_000; index += 1) digests.keep(`u${index}`, 1, createHash('sha256'));
  t.equal(digests.resume('u0', 1), undefined);
  t.ok(digests.resume('u1', 1));
});
