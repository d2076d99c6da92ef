import sharp from 'sharp';
import t from 'tap';
import { renamed } from '../../../src/nodes/image/encode.ts';
import { optimizeNode, resizeNode } from '../../../src/nodes/index.ts';
import { looksLike, withPillow } from '../../support/oracle.ts';
import { makePhoto } from '../../support/photo.ts';
import { pictureSorts } from '../../support/pictures.ts';
import { only, runKind } from '../../support/run-kind.ts';

t.test('the name keeps its base and gets the extension of the type', async (t) => {
  t.equal(renamed('IMG_1.JPEG', 'image/jpeg'), 'IMG_1.jpg');
  t.equal(renamed('holiday.2026.png', 'image/webp'), 'holiday.2026.webp');
  t.equal(renamed('scan', 'image/tiff'), 'scan.tiff');
  t.equal(renamed('.jpg', 'image/avif'), '.jpg.avif');
});

t.test('avif is written with half the colour resolution', async (t) => {
  const file = { bytes: await makePhoto({ width: 64, height: 64 }), mimeType: 'image/jpeg' };
  const { bytes } = await only(runKind(t, optimizeNode, { format: 'avif' }, [file]));
  // The AV1 configuration box: `av1C`, marker and version, profile and level, then a byte whose bits 3 and 2 are
  // chroma_subsampling_x and _y.
  const at = bytes.indexOf('av1C');
  t.equal(((bytes[at + 6] ?? 0) >> 2) & 3, 3);
});

t.test('gif is written with an effort that animations can bear', async (t) => {
  const soft = await sharp(await makePhoto({ width: 200, height: 150 }))
    .blur(3)
    .png()
    .toBuffer();
  const { bytes: gif } = await only(
    runKind(t, resizeNode, { width: 100 }, [{ bytes: await sharp(soft).gif().toBuffer(), mimeType: 'image/gif' }]),
  );
  const expected = await sharp(await sharp(soft).gif().toBuffer())
    .resize(100, 75, { fit: 'fill' })
    .gif({ effort: 4 })
    .toBuffer();
  t.same(gif, expected);
});

t.test('what optimize writes is still the picture', withPillow, async (t) => {
  const white = { do: 'flatten', background: [255, 255, 255, 255] } as const;
  for (const [name, file] of Object.entries(await pictureSorts())) {
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
      const { bytes } = await only(runKind(t, optimizeNode, { format }, [file]));
      await looksLike(t, bytes, file.bytes, format === 'jpeg' ? [white] : [], `${name} as ${format}`);
    }
  }
});
