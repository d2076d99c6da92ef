import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import { optimizeNode } from '../../../src/nodes/index.ts';
import { makePhoto } from '../../support/photo.ts';
import { type Incoming, only, runKind } from '../../support/run-kind.ts';

type Options = Static<typeof optimizeNode.options>;

const optimize = (t: Test, options: Options, file: Incoming) => only(runKind(t, optimizeNode, options, [file]));

/** A JPEG of the quality given, with nothing but the picture in it. */
const bare = async (quality: number) => ({
  bytes: await sharp(await makePhoto({ width: 300, height: 200 }))
    .jpeg({ quality })
    .toBuffer(),
  mimeType: 'image/jpeg',
});

t.test('what has too many bytes is written at the best quality that has not', async (t) => {
  const file = await bare(100);
  const [full, half] = [await optimize(t, {}, file), await optimize(t, { quality: 40 }, file)];
  for (const maxBytes of [full.bytes.length - 1, half.bytes.length, Math.ceil(half.bytes.length / 2)]) {
    const { output, bytes } = await optimize(t, { maxBytes }, file);
    t.ok(bytes.length <= maxBytes && bytes.length > maxBytes * 0.85, `${bytes.length} of ${maxBytes}`);
    t.match(output, { mimeType: 'image/jpeg', fileName: 'IMG_1.jpg', meta: { width: 300, height: 200 } });
  }
  t.same((await optimize(t, { maxBytes: full.bytes.length }, file)).bytes, full.bytes, 'what fits is left as it is');
  for (const format of ['webp', 'avif', 'png'] as const) {
    const maxBytes = Math.floor((await optimize(t, { format }, file)).bytes.length * 0.8);
    const { bytes, output } = await optimize(t, { format, maxBytes }, file);
    t.ok(bytes.length <= maxBytes, `${format}: ${bytes.length} of ${maxBytes}`);
    t.equal(output.meta['format'], format);
  }
});

t.test('what cannot have so few bytes is refused', async (t) => {
  const file = await bare(100);
  const refused = (options: Options, incoming: Incoming = file) =>
    t.rejects(optimize(t, options, incoming), {
      code: 'FILE_TOO_LARGE',
      details: { limit: 'bytes', max: options.maxBytes, actual: Number },
    });
  await refused({ maxBytes: 300 });
  const png = { bytes: await sharp(file.bytes).png().toBuffer(), mimeType: 'image/png' };
  // Nobody asked for fewer colours.
  await refused({ maxBytes: 30_000 }, png);
  const { output } = await only(runKind(t, optimizeNode, { maxBytes: 1 }, [file], { intermediate: true }));
  t.equal(output.meta['width'], 300, 'an intermediate has no limit');
});

t.test('a smaller original is kept when it fits', async (t) => {
  const file = await bare(20);
  const fits = await optimize(t, { quality: 95, maxBytes: file.bytes.length }, file);
  t.same(fits.bytes, file.bytes);
  const fitted = await optimize(t, { quality: 95, maxBytes: file.bytes.length - 100 }, file);
  t.ok(fitted.bytes.length <= file.bytes.length - 100);
});
