import { randomBytes } from 'node:crypto';
import t from 'tap';
import { Pending } from '../../../../src/drivers/data/s3/pending.ts';

t.test('chunks are taken by reference, and cut where a part ends', (t) => {
  const pending = new Pending();
  const chunks = [randomBytes(10_000), randomBytes(20_000), randomBytes(30_000)];
  for (const chunk of chunks) pending.push(chunk);
  const cut = pending.cut(15_000);
  t.equal(cut[0], chunks[0]);
  t.equal(cut[1]?.buffer, chunks[1]?.buffer);
  t.equal(pending.bytes, 45_000);
  t.ok(Buffer.concat([...cut, ...pending.chunks]).equals(Buffer.concat(chunks)));
  t.strictSame(pending.cut(45_000).length, 2);
  t.strictSame([pending.bytes, pending.chunks.length], [0, 0]);
  t.end();
});

t.test('very short ones are put together', (t) => {
  const pending = new Pending();
  const whole = randomBytes(300_000);
  const cuts: Buffer[] = [];
  let at = 0;
  for (let length = 1; at < whole.length; length = (length % 17) + 1) {
    pending.push(whole.subarray(at, at + length));
    at = Math.min(whole.length, at + length);
    if (at % 1000 < 17) cuts.push(...pending.cut(Math.floor(pending.bytes / 2)));
  }
  cuts.push(...pending.cut(pending.bytes));
  t.ok(Buffer.concat(cuts).equals(whole));
  t.end();
});

t.test('a million bytes that come one by one are a few buffers', (t) => {
  const pending = new Pending();
  for (let count = 0; count < 1_000_000; count += 1) pending.push(Buffer.from([count % 251]));
  t.ok(pending.chunks.length <= 16);
  t.equal(Buffer.concat(pending.chunks)[999_999], 999_999 % 251);
  t.equal(pending.clear(), 1_000_000);
  t.end();
});
