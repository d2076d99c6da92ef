import sharp from 'sharp';
import t from 'tap';
import { readExifText } from '../../../src/nodes/image/exif.ts';
import { artist, copyright, makePhoto } from '../../support/photo.ts';

t.test('copyright and artist are read in every format', async (t) => {
  for (const type of ['image/jpeg', 'image/png', 'image/webp', 'image/avif'] as const) {
    const { exif } = await sharp(await makePhoto({ width: 20, height: 20, type })).metadata();
    t.same(readExifText(exif), { copyright, artist }, type);
  }
});

t.test('big-endian blocks and short texts are read too', async (t) => {
  const tiff = Buffer.alloc(8 + 2 + 12);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(0x8298, 10);
  tiff.writeUInt16BE(2, 12);
  tiff.writeUInt32BE(4, 14);
  tiff.write('Ann\0', 18, 'latin1');
  t.same(readExifText(tiff), { copyright: 'Ann' });
});

t.test('what is absent or damaged says nothing', async (t) => {
  const { exif } = await sharp(await makePhoto({ width: 20, height: 20 })).metadata();
  t.same(readExifText(undefined), {});
  for (const length of [0, 3, 10, 20]) t.same(readExifText(exif?.subarray(0, length)), {});
});
