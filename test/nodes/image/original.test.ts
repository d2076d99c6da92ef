import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import type { OpenImage } from '../../../src/nodes/image/open.ts';
import { isBetterKept } from '../../../src/nodes/image/original.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

t.test('the original stays only if it is smaller, the same in all but bytes, and clean', async (t) => {
  const directory = await temporaryDirectory(t);
  const [small, large] = [join(directory, 'small'), join(directory, 'large')];
  await writeFile(small, 'a');
  await writeFile(large, 'aa');
  const header = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#abc' } })
    .png()
    .toBuffer();
  const image = (change: Partial<OpenImage> = {}, path = small): OpenImage => ({
    file: { path, mimeType: 'image/png', fileName: 'a.png' },
    header: { ...meta, pages: 1 },
    format: 'png',
    stored: 'png',
    width: 1,
    height: 1,
    frames: 1,
    decode: () => sharp(),
    ...change,
  });
  const meta = await sharp(header).metadata();
  const encoded = { path: large, mimeType: 'image/png', fileName: 'a.png', meta: { format: 'png', pages: 1 } };
  t.equal(await isBetterKept(image(), encoded, 'none'), true);
  t.equal(await isBetterKept(image({}, large), encoded, 'none'), false, 'the same size');
  t.equal(await isBetterKept(image({ stored: 'v' }), encoded, 'none'), false, 'an intermediate');
  t.equal(await isBetterKept(image({ header: { ...meta, orientation: 3 } }), encoded, 'all'), false, 'lying');
  t.equal(await isBetterKept(image({ header: { ...meta, pages: 2 } }), encoded, 'all'), false, 'more frames');
  t.equal(await isBetterKept(image({ header: { ...meta, exif: Buffer.alloc(1) } }), encoded, 'none'), false, 'EXIF');
});
