import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { convertNode, cropNode } from '../../src/nodes/index.ts';
import { looksLike, withPillow } from '../support/oracle.ts';
import { makePhoto } from '../support/photo.ts';
import { animation, delays, framesOf, type Picture, pictureSorts, transparent } from '../support/pictures.ts';
import { limits, only, runKind } from '../support/run-kind.ts';

type Options = Static<typeof convertNode.options>;

const convert = (t: Test, options: Options, file: Picture, change = {}) =>
  only(runKind(t, convertNode, options, [file], change));

const white = { do: 'flatten', background: [255, 255, 255, 255] } as const;
const yellow = { do: 'flatten', background: [255, 208, 0, 255] } as const;

const formats = ['jpeg', 'png', 'webp', 'avif'] as const;

t.test('pictures of every sort become any format, upright and without metadata', withPillow, async (t) => {
  for (const [name, file] of Object.entries(await pictureSorts())) {
    for (const format of formats) {
      const { output, bytes } = await convert(t, { format }, file);
      t.match(output, { mimeType: `image/${format}`, meta: { width: 240, height: 180, format, pages: 1 } });
      await looksLike(t, bytes, file.bytes, format === 'jpeg' ? [white] : [], `${name} as ${format}`);
      const { mediaType, exif, icc } = await sharp(bytes).metadata();
      t.same([mediaType, exif, icc], [`image/${format}`, undefined, undefined]);
    }
  }
});

t.test('quality, effort and lossless act where the format has them', async (t) => {
  const file = { bytes: await makePhoto({ width: 120, height: 80 }), mimeType: 'image/jpeg' };
  const encode = async (options: Options) => (await convert(t, options, file)).bytes;
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    t.ok((await encode({ format, quality: 20 })).length < (await encode({ format, quality: 95 })).length, format);
  }
  const png = await encode({ format: 'png' });
  t.same(await encode({ format: 'png', quality: 20 }), png, 'png stays exact');
  for (const format of ['webp', 'avif'] as const) {
    t.notSame(await encode({ format, effort: 0 }), await encode({ format, effort: 4 }), format);
    const exact = await sharp(await encode({ format, lossless: true }))
      .raw()
      .toBuffer();
    t.same(exact, await sharp(file.bytes).raw().toBuffer(), format);
  }
});

t.test('progressive and chromaSubsampling are written', async (t) => {
  const file = { bytes: await makePhoto({ width: 64, height: 64 }), mimeType: 'image/jpeg' };
  const read = async (options: Options) => sharp((await convert(t, options, file)).bytes).metadata();
  for (const format of ['jpeg', 'png'] as const) {
    t.equal((await read({ format, progressive: true })).isProgressive, true, format);
    t.equal((await read({ format })).isProgressive, false, format);
  }
  t.match(await read({ format: 'jpeg' }), { chromaSubsampling: '4:2:0' });
  t.match(await read({ format: 'jpeg', chromaSubsampling: '4:4:4' }), { chromaSubsampling: '4:4:4' });
  const avif = async (options: Partial<Options>) => {
    const { bytes } = await convert(t, { format: 'avif', ...options }, file);
    return ((bytes[bytes.indexOf('av1C') + 6] ?? 0) >> 2) & 3;
  };
  t.same([await avif({}), await avif({ chromaSubsampling: '4:4:4' })], [3, 0]);
});

t.test(
  'background shows in jpeg where the picture was transparent, also when it is only passed on',
  withPillow,
  async (t) => {
    const file = await transparent();
    const options = { format: 'jpeg', background: '#ffd000', quality: 95 } as const;
    const jpeg = await convert(t, options, file);
    t.equal(jpeg.output.meta['hasAlpha'], false);
    await looksLike(t, jpeg.bytes, file.bytes, [yellow]);
    const { output } = await convert(t, options, file, { intermediate: true });
    const whole = { left: 0, top: 0, width: '100%', height: '100%' } as const;
    await looksLike(t, (await only(runKind(t, cropNode, whole, [output]))).bytes, file.bytes, [yellow]);
    const png = await convert(t, { ...options, format: 'png' }, file);
    t.equal(png.output.meta['hasAlpha'], true);
  },
);

t.test('animated keeps the frames in webp; else the first one is left', withPillow, async (t) => {
  const file = await animation();
  const moving = await convert(t, { format: 'webp', animated: true, lossless: true }, file);
  t.match(moving.output.meta, { width: 240, height: 180, pages: 3 });
  t.match(await sharp(moving.bytes).metadata(), { pages: 3, delay: delays, loop: 2 });
  const before = await framesOf(file.bytes);
  for (const [index, frame] of (await framesOf(moving.bytes)).entries()) await looksLike(t, frame, before[index]!, []);
  for (const format of formats) {
    const { output, bytes } = await convert(t, { format }, file);
    t.match(output.meta, { width: 240, height: 180, pages: 1 });
    await looksLike(t, bytes, before[0]!, format === 'jpeg' ? [white] : [], format);
  }
});

t.test('a side that the format or the service does not take is refused', async (t) => {
  const bytes = await sharp({ create: { width: 16_384, height: 2, channels: 3, background: '#345678' } })
    .png()
    .toBuffer();
  const file = { bytes, mimeType: 'image/png' };
  const wide = { limits: { ...limits, maxSide: 100_000 } };
  const details = { limit: 'side', max: 16_383, actual: 16_384 };
  await t.rejects(convert(t, { format: 'webp' }, file, wide), { code: 'FILE_TOO_LARGE', details });
  await t.resolves(convert(t, { format: 'png' }, file, wide));
  await t.rejects(convert(t, { format: 'png' }, file), { code: 'FILE_TOO_LARGE', details });
  await t.rejects(convert(t, { format: 'avif', effort: 5 }, file, wide), { code: 'INVALID_PARAMS' });
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(convertNode.options, options);
  t.ok(valid({ format: 'webp', quality: 1, effort: 6, lossless: true, animated: true }));
  for (const options of [
    {},
    { format: 'gif' },
    { format: 'webp', quality: 0 },
    { format: 'webp', effort: 7 },
    { format: 'jpeg', chromaSubsampling: '4:2:2' },
    { format: 'jpeg', background: 'white' },
    { format: 'webp', animated: 1 },
    { format: 'webp', metadata: 'all' },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
  t.match(convertNode.check?.({ format: 'jpeg', lossless: true }), /^lossless /);
  t.match(convertNode.check?.({ format: 'avif', effort: 5 }), /^effort /);
  t.match(convertNode.check?.({ format: 'png', animated: true }), /^animated /);
  t.equal(convertNode.check?.({ format: 'webp', animated: true, lossless: true }), undefined);
  t.same(convertNode.produces({ format: 'avif' }, ['image/png']), ['image/avif']);
});
