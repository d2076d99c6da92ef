import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { blurNode, optimizeNode } from '../../src/nodes/index.ts';
import { looksLike, withPillow } from '../support/oracle.ts';
import { makePhoto } from '../support/photo.ts';
import { animation, delays, framesOf, type Picture, pictureSorts, transparent } from '../support/pictures.ts';
import { limits, only, runKind } from '../support/run-kind.ts';

type Options = Static<typeof blurNode.options>;

const blur = (t: Test, options: Options, file: Picture, change = {}) =>
  only(runKind(t, blurNode, options, [file], change));

const photo = async (width: number, height: number): Promise<Picture> => ({
  bytes: await makePhoto({ width, height, type: 'image/png' }),
  mimeType: 'image/png',
});

t.test('sigma says how far colours run', withPillow, async (t) => {
  const file = await photo(200, 150);
  for (const sigma of [0.3, 0.5, 1, 1.9, 2, 4, 4.1, 8, 20]) {
    const { output, bytes } = await blur(t, { sigma }, file);
    t.match(output, { mimeType: 'image/png', meta: { width: 200, height: 150, hasAlpha: false, pages: 1 } });
    await looksLike(t, bytes, file.bytes, [{ do: 'blur', sigma }]);
  }
});

t.test('only the regions are blurred, what is outside of the picture is left away', withPillow, async (t) => {
  const file = await photo(200, 150);
  const inside = { left: '10%', top: 30, width: 60, height: '20%' } as const;
  const across = { left: 150, top: '90%', width: '100%', height: 1000 } as const;
  const outside = { left: 200, top: 0, width: 10, height: 10 };
  for (const sigma of [4, 30]) {
    const { output, bytes } = await blur(t, { sigma, regions: [inside, across, outside] }, file);
    t.equal(output.meta['hasAlpha'], false);
    await looksLike(t, bytes, file.bytes, [
      { do: 'blur', sigma, region: { left: 20, top: 30, width: 60, height: 30 } },
      { do: 'blur', sigma, region: { left: 150, top: 135, width: 50, height: 15 } },
    ]);
    const rest = { left: 0, top: 0, width: 200, height: 30 };
    t.same(await pixels(bytes, rest), await pixels(file.bytes, rest), 'to the last bit');
  }
  const untouched = await blur(t, { sigma: 5, regions: [outside] }, file);
  t.same(await pixels(untouched.bytes), await pixels(file.bytes));
});

t.test('nothing of what was there shows through a transparent region', async (t) => {
  const dot = { create: { width: 4, height: 4, channels: 4 as const, background: '#ff0000' } };
  const empty = sharp({ create: { width: 100, height: 100, channels: 4, background: '#00000000' } });
  const bytes = await empty
    .composite([{ input: dot, left: 48, top: 48 }])
    .png()
    .toBuffer();
  const regions = [{ left: 30, top: 30, width: 40, height: 40 }];
  for (const sigma of [4, 12]) {
    const blurred = await blur(t, { sigma, regions }, { bytes, mimeType: 'image/png' });
    const max = Math.max(...(await sharp(blurred.bytes).extractChannel('alpha').raw().toBuffer()));
    // A dot of 4 x 4 pixels is spread over 2 pi sigma squared.
    t.ok(max > 0 && max <= Math.ceil((16 * 255) / (2 * Math.PI * sigma ** 2)) + 2, `${sigma}: ${max}`);
  }
});

t.test('pictures of every sort are blurred as they are seen', withPillow, async (t) => {
  const region = { left: 20, top: 20, width: 120, height: 100 };
  for (const [name, file] of Object.entries(await pictureSorts())) {
    const whole = await blur(t, { sigma: 3 }, file);
    t.match(whole.output, { mimeType: file.mimeType, meta: { width: 240, height: 180, hasAlpha: name === 'alpha' } });
    await looksLike(t, whole.bytes, file.bytes, [{ do: 'blur', sigma: 3 }], name);
    const part = await blur(t, { sigma: 12, regions: [region] }, file);
    t.match(part.output.meta, { width: 240, height: 180, hasAlpha: name === 'alpha' }, name);
    await looksLike(t, part.bytes, file.bytes, [{ do: 'blur', sigma: 12, region }], `${name}, a region`);
  }
});

t.test('transparent pixels lend no colour to their neighbours', withPillow, async (t) => {
  const file = await transparent();
  for (const sigma of [3, 12]) {
    const { bytes } = await blur(t, { sigma }, file);
    await looksLike(t, bytes, file.bytes, [{ do: 'blur', sigma }]);
  }
});

t.test('the frames of an animation do not run into one another', withPillow, async (t) => {
  const region = { left: 10, top: 100, width: 150, height: 80 };
  for (const format of ['gif', 'webp'] as const) {
    const file = await animation(format);
    const before = await framesOf(file.bytes);
    for (const options of [{ sigma: 4 }, { sigma: 20 }, { sigma: 4, regions: [region] }]) {
      // As an intermediate, because GIF has no half transparent pixels.
      const { output } = await blur(t, options, file, { intermediate: true });
      const webp = { format: 'webp', lossless: true } as const;
      const { output: last, bytes } = await only(runKind(t, optimizeNode, webp, [output]));
      t.match(last.meta, { width: 240, height: 180, pages: 3 });
      t.match(await sharp(bytes).metadata(), { pages: 3, delay: delays, loop: 2 });
      const step = { do: 'blur', sigma: options.sigma, ...('regions' in options && { region }) } as const;
      for (const [index, frame] of (await framesOf(bytes)).entries()) {
        await looksLike(t, frame, before[index]!, [step], `${format} ${index} ${JSON.stringify(options)}`);
      }
    }
  }
});

t.test('an intermediate keeps its metadata and its colours', withPillow, async (t) => {
  const plain = await makePhoto({ width: 200, height: 100, orientation: 6, smooth: true });
  const bytes = await sharp(plain).keepMetadata().withIccProfile('p3').jpeg({ quality: 95 }).toBuffer();
  const regions = [{ left: 0, top: 0, width: 100, height: 50 }];
  for (const options of [{ sigma: 4 }, { sigma: 20 }, { sigma: 4, regions }]) {
    const { output } = await blur(t, options, { bytes, mimeType: 'image/jpeg' }, { intermediate: true });
    t.match(await sharp(output.path).metadata(), { format: 'vips', width: 200, height: 100, channels: 3 });
    const last = await only(runKind(t, optimizeNode, { metadata: 'all', quality: 95 }, [output]));
    const { exif, icc } = await sharp(last.bytes).metadata();
    t.ok(exif && icc);
    const step = { do: 'blur', sigma: options.sigma, ...('regions' in options && { region: regions[0]! }) } as const;
    await looksLike(t, last.bytes, bytes, [step]);
  }
});

t.test('a picture with a side over the limit is refused', async (t) => {
  await t.rejects(blur(t, { sigma: 1 }, await photo(30, 60), { limits: { ...limits, maxSide: 59 } }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 59, actual: 60 },
  });
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(blurNode.options, options);
  const region = { left: 0, top: '0%', width: 1, height: '100%' };
  t.ok(valid({ sigma: 0.3 }));
  t.ok(valid({ sigma: 1000, regions: [region, region] }));
  for (const options of [
    {},
    { sigma: 0.29 },
    { sigma: 1001 },
    { sigma: '5' },
    { sigma: 1, regions: [] },
    { sigma: 1, regions: Array(101).fill(region) },
    { sigma: 1, regions: [{ ...region, left: undefined }] },
    { sigma: 1, regions: [{ ...region, width: 0 }] },
    { sigma: 1, regions: [{ ...region, blur: 1 }] },
    { sigma: 1, radius: 1 },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
  t.same(blurNode.produces({ sigma: 1 }, ['image/png', 'text/plain']), ['image/png']);
});

const pixels = (bytes: Buffer, part?: { left: number; top: number; width: number; height: number }) => {
  const picture = part === undefined ? sharp(bytes) : sharp(bytes).extract(part);
  return picture.raw().toBuffer();
};
