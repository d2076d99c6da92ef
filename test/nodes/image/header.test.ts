import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { readHeader } from '../../../src/nodes/image/header.ts';
import { makePhoto } from '../../support/photo.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const header = async (t: Test, bytes: Buffer, mimeType = 'image/jpeg') => {
  const path = `${await temporaryDirectory(t)}/file`;
  await writeFile(path, bytes);
  return readHeader({ path, mimeType, fileName: 'a.jpg' });
};

t.test('the sides are those of the upright picture', async (t) => {
  const bytes = await makePhoto({ width: 120, height: 80, orientation: 6 });
  t.same(await header(t, bytes), { width: 120, height: 80, pages: 1, hasAlpha: false, orientation: 6 });
});

t.test('frames are pages, and only the header is read', async (t) => {
  const frame = (background: string) =>
    sharp({ create: { width: 9, height: 7, channels: 4, background } })
      .png()
      .toBuffer();
  const frames = await Promise.all([frame('#0f08'), frame('#f008')]);
  const bytes = await sharp(frames, { join: { animated: true } })
    .webp({ loop: 1 })
    .toBuffer();
  t.same(await header(t, bytes), { width: 9, height: 7, pages: 2, hasAlpha: true, orientation: 1 });
  const cut = (await makePhoto({ width: 900, height: 600 })).subarray(0, 3000);
  t.match(await header(t, cut), { width: 900, height: 600 });
});

t.test('an animation with an odd frame still has its header, as the kinds still read it', async (t) => {
  const frame = (background: string) => sharp({ create: { width: 20, height: 20, channels: 3, background } }).png();
  const frames = await Promise.all([frame('#f00').toBuffer(), frame('#0f0').toBuffer()]);
  const bytes = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
  // The second frame's first block is none that GIF knows.
  bytes[bytes.lastIndexOf(Buffer.from([0x21, 0xf9]))] = 255;
  await t.rejects(sharp(bytes).metadata(), 'sharp by itself forgives less');
  t.match(await header(t, bytes, 'image/gif'), { width: 20, height: 20 });
});

t.test('a file without one has no facts', async (t) => {
  t.same(await header(t, Buffer.from('Dear reader')), {});
  t.same(await header(t, Buffer.alloc(0)), {});
  t.same(await header(t, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')), {});
});

t.test('a file that cannot be read is an error', async (t) => {
  const gone = { path: '/nowhere/at/all', mimeType: 'image/jpeg', fileName: 'a.jpg' };
  await t.rejects(readHeader(gone), { code: 'STORAGE_ERROR' });
});
