import t from 'tap';
import { parseRange } from '../../src/http/range.ts';

t.test('one range of bytes, its end exclusive', (t) => {
  for (const [header, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=2-4', 2, 5],
    [' bytes=2-4 ', 2, 5],
    ['bytes=2-', 2, 10],
    ['bytes=9-9', 9, 10],
    ['bytes=5-9007199254740991', 5, 10],
    ['bytes=-4', 6, 10],
    ['bytes=-10', 0, 10],
    ['bytes=-11', 0, 10],
  ] as const) {
    t.strictSame(parseRange(header, 10), { start, end }, header);
  }
  t.end();
});

t.test('the whole file for what a server may ignore', (t) => {
  const headers = [
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=4-2',
    'bytes=0-1,3-4',
    'bytes=1-2-3',
    'bytes=a-b',
    'bytes=+1-2',
  ];
  for (const header of [undefined, ...headers, 'items=0-1', 'bytes=1e1-', 'bytes=0x1-2', `bytes=${'1'.repeat(17)}-`]) {
    t.equal(parseRange(header, 10), undefined, String(header));
  }
  t.end();
});

t.test('a range outside the file is RANGE_NOT_SATISFIABLE and says how large it is', (t) => {
  for (const [header, size] of [
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-5', 0],
  ] as const) {
    const details = { contentRange: `bytes */${size}` };
    t.throws(() => parseRange(header, size), { code: 'RANGE_NOT_SATISFIABLE', status: 416, details }, header);
  }
  t.end();
});
