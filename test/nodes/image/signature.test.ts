import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { signatureOf } from '../../../src/nodes/image/signature.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

t.test('every format is known by its first bytes', async (t) => {
  const path = join(await temporaryDirectory(t), 'file');
  const picture = sharp({ create: { width: 9, height: 9, channels: 3, background: '#336699' } });
  for (const format of ['jpeg', 'png', 'gif', 'webp', 'avif', 'tiff'] as const) {
    const bytes = await picture.clone().toFormat(format).toBuffer();
    await writeFile(path, bytes.subarray(0, 40));
    t.equal(await signatureOf(path), format);
    await writeFile(path, bytes.subarray(0, 2));
    t.equal(await signatureOf(path), undefined, 'two bytes tell nothing');
  }
  await writeFile(path, await picture.clone().tiff({ bigtiff: true }).toBuffer());
  t.equal(await signatureOf(path), 'tiff', 'BigTIFF');
});

t.test('what is no picture has none', async (t) => {
  const path = join(await temporaryDirectory(t), 'file');
  const others = ['', 'Dear reader', '%PDF-1.7\n%', 'RIFF\x10\0\0\0WAVEfmt ', '\0\0\0\x18ftypheic'];
  for (const text of others) {
    await writeFile(path, text, 'latin1');
    t.equal(await signatureOf(path), undefined, JSON.stringify(text));
  }
});
