import t from 'tap';
import { matchesGlob, numberOf } from '../../../src/nodes/condition/value.ts';

t.test('numbers may have the unit of a size', async (t) => {
  const read = {
    '1600': 1600,
    '-1.5': -1.5,
    '20mb': 20_000_000,
    '1.5 KB': 1500,
    '2KiB': 2048,
    '1gib': 2 ** 30,
    '7b': 7,
  };
  for (const [text, number] of Object.entries(read)) t.equal(numberOf(text), number, text);
  t.equal(numberOf(3.5), 3.5);
  for (const none of ['', 'mb', '20 pounds', '1e3', '0x10', true, null, undefined, ['1']]) {
    t.equal(numberOf(none), undefined, JSON.stringify(none));
  }
});

t.test('a glob fits the whole text', async (t) => {
  const fits = [
    ['IMG_1.jpg', 'IMG_*.jpg'],
    ['IMG_1.jpg', '*'],
    ['', '*'],
    ['', ''],
    ['abc', 'a?c'],
    ['ab🎈d', 'ab?d'],
    ['aXbXbc', 'a*bc'],
    ['a.b', 'a.b'],
    ['xaaay', '*aa*'],
  ];
  for (const [text = '', glob = ''] of fits) t.ok(matchesGlob(text, glob), `${text} ${glob}`);
  const differs = [
    ['IMG_1.jpeg', 'IMG_*.jpg'],
    ['photo', ''],
    ['', '?'],
    ['abc', 'a?'],
    ['ABC', 'abc'],
    ['axb', 'a.b'],
    ['a', '*?*?*'],
  ];
  for (const [text = '', glob = ''] of differs) t.notOk(matchesGlob(text, glob), `${text} ${glob}`);
});

t.test('no glob takes long', async (t) => {
  const before = performance.now();
  t.notOk(matchesGlob('a'.repeat(8000), `${'a*'.repeat(400)}b`));
  t.notOk(matchesGlob('a'.repeat(8000), `${'*a?'.repeat(300)}b`));
  t.ok(performance.now() - before < 1000);
});
