import { basename } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { fontFamily, fontFile, missingCharacters } from '../../../src/nodes/image/font.ts';

t.test('the font comes with the service', async (t) => {
  t.equal(basename(fontFile()), 'DejaVuSans.ttf');
});

t.test('it has the letters of many languages, and tells which it does not have', async (t) => {
  const texts = [
    'ABC xyz 0189',
    'ÄÖÜ ß éñø ŁŻ',
    'Ωμέγα',
    'Пример',
    'שלום',
    'عربى',
    '© ® ™ € “–” … ★ ✓ ☺',
    'e\u0301',
    'a\nb',
  ];
  for (const text of texts) t.same(missingCharacters(text), [], text);
  t.same(missingCharacters('日本 and 中文, 日'), ['日', '本', '中', '文']);
  t.same(missingCharacters('한국어'), ['한', '국', '어']);
  t.same(missingCharacters('party 🎉'), ['🎉']);
  t.same(missingCharacters('☺\uFE0F a\u200Db'), [], 'what is not seen needs no picture');
});

t.test('a missing character would be a box, one that is there has a picture of its own', async (t) => {
  const draw = (text: string) =>
    sharp({ text: { text, font: `${fontFamily} 40`, fontfile: fontFile(), rgba: true } })
      .raw()
      .toBuffer();
  t.notSame(await draw('A'), await draw('B'));
});
