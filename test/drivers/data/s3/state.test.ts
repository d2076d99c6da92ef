import t from 'tap';
import { mayBeShort, partSize, readState, writeState } from '../../../../src/drivers/data/s3/state.ts';

const mebibyte = 1_048_576;
const gibibyte = 1024 * mebibyte;

t.test('parts have 8 MiB, and more where 10 000 of them would not do', (t) => {
  t.equal(partSize(1, 5 * gibibyte), 8 * mebibyte);
  t.equal(partSize(1, 78 * gibibyte), 8 * mebibyte);
  t.equal(partSize(1, 80 * gibibyte), 9 * mebibyte);
  t.equal(partSize(1, 5 * 1024 * gibibyte), 525 * mebibyte);
  t.equal(partSize(9_990, gibibyte), 94 * mebibyte, 'numbers that are gone make the others larger');
  t.equal(partSize(10_000, 100 * mebibyte), 100 * mebibyte);
  t.end();
});

t.test('while the length is unknown they double every 1000 parts', (t) => {
  t.equal(partSize(1, undefined), 8 * mebibyte);
  t.equal(partSize(1000, undefined), 8 * mebibyte);
  t.equal(partSize(1001, undefined), 16 * mebibyte);
  t.equal(partSize(2001, undefined), 32 * mebibyte);
  let total = 0;
  for (let number = 1; number <= 10_000; number += 1) total += partSize(number, undefined);
  t.ok(total > 5 * 1024 * gibibyte, 'all of them hold more than S3 takes');
  t.end();
});

t.test('a short part may only be sent while the others still hold the rest', (t) => {
  t.equal(mayBeShort(1, gibibyte), true);
  t.equal(mayBeShort(9_000, 8 * gibibyte), false);
  t.equal(mayBeShort(9_000, 7 * gibibyte), true);
  t.equal(mayBeShort(10_000, 0), true);
  t.equal(mayBeShort(6_000, undefined), false);
  t.end();
});

t.test('an upload that needs nothing keeps nothing', (t) => {
  const state = readState({ offset: 0 });
  t.strictSame(state, { parts: [], tails: [], next: 1, old: [] });
  t.equal(writeState(state), undefined);
  t.strictSame(writeState({ ...state, whole: true }), { whole: true });
  t.end();
});

t.test('a state survives its way through the record', (t) => {
  const state = {
    uploadId: 'u',
    parts: [[1, 'e', 8] as const, [3, 'f', 5] as const],
    tails: [['t', 2] as const],
    next: 20,
    old: ['o'],
  };
  t.strictSame(readState({ offset: 15, state: JSON.parse(JSON.stringify(writeState(state))) }), state);
  t.match(readState({ offset: 15 }), { whole: true }, 'without one, all of it is in the final object');
  t.throws(() => readState({ offset: 16, state: writeState(state) }), { code: 'STORAGE_ERROR' });
  t.end();
});
