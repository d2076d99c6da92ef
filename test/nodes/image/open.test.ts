import sharp from 'sharp';
import t, { type Test } from 'tap';
import { optimizeNode, resizeNode } from '../../../src/nodes/index.ts';
import { makePhoto } from '../../support/photo.ts';
import { limits, only, runKind } from '../../support/run-kind.ts';

const optimize = (t: Test, bytes: Buffer, mimeType: string, change = {}, extension?: string) =>
  runKind(
    t,
    optimizeNode,
    { format: 'png' },
    [{ bytes, mimeType, fileName: 'a.jpg', ...(extension && { extension }) }],
    change,
  );

t.test('text is no image, whatever it says it is', async (t) => {
  await t.rejects(optimize(t, Buffer.from('Dear reader'), 'image/jpeg'), {
    code: 'UNSUPPORTED_FORMAT',
    message: 'a.jpg is not an image that can be read here',
  });
  await t.rejects(optimize(t, Buffer.alloc(0), 'image/jpeg'), { code: 'UNSUPPORTED_FORMAT' });
});

t.test('a JPEG that ends early is damaged', async (t) => {
  const bytes = await makePhoto({ width: 300, height: 200 });
  await t.rejects(optimize(t, bytes.subarray(0, bytes.length * 0.9), 'image/jpeg'), {
    code: 'INVALID_INPUT',
    message: 'a.jpg is damaged or incomplete',
  });
});

t.test('what begins as a picture and ends there is damaged, wherever it ends', async (t) => {
  const bytes = await makePhoto({ width: 300, height: 200, type: 'image/tiff' });
  for (const length of [8, 100, bytes.length / 2]) {
    await t.rejects(optimize(t, bytes.subarray(0, length), 'image/tiff'), {
      code: 'INVALID_INPUT',
      message: 'a.jpg is damaged or incomplete',
    });
  }
  const raw = optimize(t, bytes.subarray(0, 8), 'image/x-nikon-nef');
  await t.rejects(raw, { code: 'UNSUPPORTED_FORMAT' }, 'cameras begin their own formats as TIFF');
});

t.test('SVG is refused', async (t) => {
  const svg =
    '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
  await t.rejects(optimize(t, Buffer.from(svg), 'image/svg+xml'), { code: 'UNSUPPORTED_FORMAT' });
  await t.rejects(optimize(t, Buffer.from(svg), 'image/png'), { code: 'UNSUPPORTED_FORMAT' });
  await t.rejects(sharp(Buffer.from(svg)).metadata(), /unsupported image format/, 'its loader is never reached');
});

t.test('too many pixels are refused by the header alone', async (t) => {
  const bytes = await makePhoto({ width: 300, height: 200 });
  // The header is whole and the pixels are not: that they are missing is never seen.
  await t.rejects(optimize(t, bytes.subarray(0, 2000), 'image/jpeg', { limits: { ...limits, maxPixels: 59_999 } }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'pixels', max: 59_999, actual: 60_000 },
  });
  await t.resolves(optimize(t, bytes, 'image/jpeg', { limits: { ...limits, maxPixels: 60_000 } }));
});

t.test('the frames of an animation count together', async (t) => {
  const frame = await sharp({ create: { width: 20, height: 10, channels: 3, background: '#abc' } })
    .png()
    .toBuffer();
  const bytes = await sharp([frame, frame, frame], { join: { animated: true } })
    .gif({ keepDuplicateFrames: true })
    .toBuffer();
  await t.rejects(optimize(t, bytes, 'image/gif', { limits: { ...limits, maxPixels: 599 } }), {
    code: 'FILE_TOO_LARGE',
    details: { actual: 600 },
  });
  await t.resolves(optimize(t, bytes, 'image/gif', { limits: { ...limits, maxPixels: 600 } }));
});

t.test('an animation that lies on its side gives its first frame, upright', async (t) => {
  const frame = await sharp({ create: { width: 20, height: 10, channels: 3, background: '#abc' } })
    .png()
    .toBuffer();
  const webp = sharp([frame, frame], { join: { animated: true } }).webp({ mixed: true });
  const bytes = await webp.withMetadata({ orientation: 6 }).toBuffer();
  const run = runKind(t, resizeNode, { width: 5 }, [{ bytes, mimeType: 'image/webp' }]);
  t.match((await only(run)).output.meta, { width: 5, height: 10, pages: 1 });
});

t.test('bare pixels are taken from other kinds, not from uploads', async (t) => {
  const source = { bytes: await makePhoto({ width: 30, height: 20 }), mimeType: 'image/jpeg' };
  const { bytes } = await only(runKind(t, resizeNode, { width: 10 }, [source], { intermediate: true }));
  await t.rejects(optimize(t, bytes, 'image/jpeg'), { code: 'UNSUPPORTED_FORMAT' });
  await t.resolves(optimize(t, bytes, 'image/jpeg', {}, '.v'));
  await t.rejects(optimize(t, bytes.subarray(0, 100), 'image/jpeg', {}, '.v'), { code: 'INVALID_INPUT' });
});

t.test('CMYK becomes RGB', async (t) => {
  const photo = sharp(await makePhoto({ width: 60, height: 40 }));
  const bytes = await photo.toColourspace('cmyk').withIccProfile('cmyk').jpeg().toBuffer();
  t.equal((await sharp(bytes).metadata()).space, 'cmyk');
  for (const metadata of ['none', 'all'] as const) {
    const run = runKind(t, optimizeNode, { metadata }, [{ bytes, mimeType: 'image/jpeg' }]);
    const written = await sharp((await only(run)).bytes).metadata();
    t.match(written, { space: 'srgb', channels: 3 });
    t.equal(written.icc, undefined, 'without the profile of other colours');
  }
});
