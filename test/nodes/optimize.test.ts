import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { optimizeNode, resizeNode } from '../../src/nodes/index.ts';
import { artist, copyright, cornersOf, hasGps, makePhoto, uprightCorners } from '../support/photo.ts';
import { type Incoming, limits, only, runKind } from '../support/run-kind.ts';

type Options = Static<typeof optimizeNode.options>;

const optimize = (t: Test, options: Options, file: Incoming) => only(runKind(t, optimizeNode, options, [file]));

const photo = async (width: number, height: number, change: { orientation?: number; gps?: boolean } = {}) => ({
  bytes: await makePhoto({ width, height, ...change }),
  mimeType: 'image/jpeg',
});

/** A JPEG of the quality given, with nothing but the picture in it. */
const bare = async (quality: number) => ({
  bytes: await sharp(await makePhoto({ width: 300, height: 200 }))
    .jpeg({ quality })
    .toBuffer(),
  mimeType: 'image/jpeg',
});

const rawPixels = (bytes: Buffer): Promise<Buffer> => sharp(bytes).raw().toBuffer();

t.test('12 megapixels of a phone held upright lose their position, but not their way up', async (t) => {
  const file = await photo(3000, 4000, { orientation: 6, gps: true });
  const before = await sharp(file.bytes).metadata();
  t.match(before, { width: 4000, height: 3000, orientation: 6 });
  t.ok(hasGps(file.bytes), 'by the bytes');
  t.ok(hasGps(before.exif ?? Buffer.alloc(0)), "by sharp's reading");
  for (const format of ['webp', undefined] as const) {
    const { output, bytes } = await optimize(t, format === undefined ? {} : { format }, file);
    const name = format ?? 'jpeg';
    t.match(output.meta, { width: 3000, height: 4000, format: name, hasAlpha: false, pages: 1 });
    const { width, height, orientation, exif, xmp, iptc, icc } = await sharp(bytes).metadata();
    t.same([width, height, orientation], [3000, 4000, undefined]);
    t.same([exif, xmp, iptc, icc], [undefined, undefined, undefined, undefined]);
    t.notOk(hasGps(bytes) || bytes.includes('Exif') || bytes.includes('Ann Example'));
    t.same(await cornersOf(bytes), uprightCorners);
    t.ok(bytes.length < file.bytes.length);
  }
});

t.test('format decides the type; without it the type stays', async (t) => {
  const file = await photo(200, 100);
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const { output, bytes } = await optimize(t, { format }, file);
    t.match(output, { mimeType: `image/${format}`, fileName: `IMG_1.${format === 'jpeg' ? 'jpg' : format}` });
    t.equal((await sharp(bytes).metadata()).mediaType, `image/${format}`);
    const again = await optimize(t, {}, { bytes, mimeType: output.mimeType });
    t.equal(again.output.mimeType, `image/${format}`);
    t.equal((await sharp(again.bytes).metadata()).mediaType, `image/${format}`);
  }
});

t.test('quality acts in jpeg, webp and avif, and its defaults are 80, 80 and 50', async (t) => {
  const file = await photo(300, 200);
  for (const [format, standard] of [
    ['jpeg', 80],
    ['webp', 80],
    ['avif', 50],
  ] as const) {
    const size = async (quality?: number) =>
      (await optimize(t, { format, ...(quality && { quality }) }, file)).bytes.length;
    const [low, middle, high, byDefault] = [await size(10), await size(standard), await size(95), await size()];
    t.ok(low < middle && middle < high, format);
    t.equal(byDefault, middle, format);
  }
});

t.test('png is reduced to a palette only when png and a quality were asked for', async (t) => {
  const bytes = await makePhoto({ width: 300, height: 200, type: 'image/png' });
  const file = { bytes, mimeType: 'image/png' };
  const paletted = async (options: Options) =>
    (await sharp((await optimize(t, { keepIfLarger: 'encoded', ...options }, file)).bytes).metadata()).isPalette;
  t.equal(await paletted({ format: 'png', quality: 60 }), true);
  t.equal(await paletted({ format: 'png', quality: 60, lossless: true }), false);
  t.equal(await paletted({ quality: 60 }), false);
  t.equal(await paletted({ format: 'png' }), false);
  t.same(await rawPixels((await optimize(t, {}, file)).bytes), await rawPixels(bytes), 'png stays exact');
});

t.test('effort acts in webp and avif', async (t) => {
  const file = await photo(300, 200);
  const encode = async (format: 'webp' | 'avif', effort?: number) =>
    (await optimize(t, { format, ...(effort !== undefined && { effort }) }, file)).bytes;
  t.notSame(await encode('webp', 0), await encode('webp', 6));
  t.notSame(await encode('avif', 0), await encode('avif', 4));
  t.same(await encode('webp'), await encode('webp', 4));
  t.same(await encode('avif'), await encode('avif', 2));
  const avif = { bytes: await encode('avif'), mimeType: 'image/avif' };
  await t.rejects(optimize(t, { effort: 5 }, avif), { code: 'INVALID_PARAMS', message: /^effort/ });
});

t.test('lossless keeps every pixel', async (t) => {
  const file = await photo(120, 80);
  const pixels = await rawPixels(file.bytes);
  for (const format of ['webp', 'avif'] as const) {
    t.same(await rawPixels((await optimize(t, { format, lossless: true }, file)).bytes), pixels, format);
    t.notSame(await rawPixels((await optimize(t, { format }, file)).bytes), pixels, format);
  }
});

t.test('progressive acts in jpeg and png', async (t) => {
  const file = await photo(120, 80);
  for (const format of ['jpeg', 'png'] as const) {
    const isProgressive = async (options: Options) =>
      (await sharp((await optimize(t, { format, ...options }, file)).bytes).metadata()).isProgressive;
    t.equal(await isProgressive({ progressive: true }), true, format);
    t.equal(await isProgressive({}), false, format);
  }
});

t.test('metadata decides what is carried on', async (t) => {
  const plain = await makePhoto({ width: 200, height: 100, orientation: 6, gps: true });
  const bytes = await sharp(plain).keepMetadata().withIccProfile('p3').withXmp('<x:xmpmeta/>').jpeg().toBuffer();
  const file = { bytes, mimeType: 'image/jpeg' };
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const all = await optimize(t, { format, metadata: 'all' }, file);
    const kept = await sharp(all.bytes).metadata();
    t.ok(hasGps(Buffer.concat([Buffer.from('Exif\0\0'), tiffOf(kept.exif)])), `${format}: all keeps the position`);
    t.ok(kept.icc && kept.xmp, `${format}: and the rest`);
    t.ok((kept.orientation ?? 1) === 1, `${format}: but the orientation, which has been applied`);

    const some = await optimize(t, { format, metadata: 'copyright' }, file);
    const { exif, icc, xmp } = await sharp(some.bytes).metadata();
    t.ok(exif?.includes(copyright) && exif.includes(artist), `${format}: copyright keeps the author`);
    t.same([icc, xmp, hasGps(some.bytes), some.bytes.includes('GPS')], [undefined, undefined, false, false]);

    for (const result of [all, some]) {
      t.match(result.output.meta, { width: 200, height: 100 });
      t.same(await cornersOf(result.bytes), uprightCorners);
    }
  }
});

const tiffOf = (exif: Buffer | undefined): Buffer =>
  exif?.subarray(exif.indexOf('II*\0') < 0 ? exif.indexOf('MM\0*') : exif.indexOf('II*\0')) ?? Buffer.alloc(0);

t.test('colours become sRGB with their profile gone, and stay with it kept', async (t) => {
  const red = sharp({ create: { width: 8, height: 8, channels: 3, background: '#c02020' } });
  const file = { bytes: await red.withIccProfile('p3').png().toBuffer(), mimeType: 'image/png' };
  const [stored] = await sharp(file.bytes, { ignoreIcc: true }).raw().toBuffer();
  t.ok((stored ?? 0) < 0xc0, 'the same red is a smaller number in P3');
  const converted = await sharp((await optimize(t, {}, file)).bytes, { ignoreIcc: true })
    .raw()
    .toBuffer();
  t.ok(Math.abs((converted[0] ?? 0) - 0xc0) < 3, `${converted[0]}`);
  const kept = await optimize(t, { metadata: 'all', keepIfLarger: 'encoded' }, file);
  t.same(
    await sharp(kept.bytes, { ignoreIcc: true }).raw().toBuffer(),
    await sharp(file.bytes, { ignoreIcc: true }).raw().toBuffer(),
  );
});

t.test('a file does not grow while its format stays', async (t) => {
  const file = await bare(20);
  const kept = await optimize(t, { quality: 95 }, file);
  t.same(kept.bytes, file.bytes);
  t.match(kept.output, { mimeType: 'image/jpeg', fileName: 'IMG_1.jpg', meta: { width: 300, height: 200 } });
  const named = await optimize(t, { quality: 95, format: 'jpeg' }, file);
  t.same(named.bytes, file.bytes, 'also when the format is named');
  const grown = await optimize(t, { quality: 95, keepIfLarger: 'encoded' }, file);
  t.ok(grown.bytes.length > file.bytes.length);
  const other = await optimize(t, { format: 'png' }, file);
  t.ok(other.bytes.length > file.bytes.length, 'another format may be larger');
});

t.test('the original is not kept when that would leak, lie or lose', async (t) => {
  const withExif = {
    bytes: await sharp((await bare(20)).bytes)
      .withExif({ IFD0: { Artist: artist } })
      .jpeg({ quality: 20 })
      .toBuffer(),
    mimeType: 'image/jpeg',
  };
  const clean = await optimize(t, { quality: 95 }, withExif);
  t.ok(clean.bytes.length > withExif.bytes.length);
  t.notOk(clean.bytes.includes(artist));
  const rewritten = await optimize(t, { quality: 95, metadata: 'copyright' }, withExif);
  t.ok(rewritten.bytes.length > withExif.bytes.length, 'what copyright lets through is not told apart');
  t.same((await optimize(t, { quality: 95, metadata: 'all' }, withExif)).bytes, withExif.bytes);

  const lying = { bytes: await makePhoto({ width: 200, height: 100, orientation: 6 }), mimeType: 'image/jpeg' };
  const upright = await optimize(t, { quality: 100, metadata: 'all' }, lying);
  t.match(upright.output.meta, { width: 200, height: 100 });
  t.same(await cornersOf(upright.bytes), uprightCorners);

  const profiled = {
    bytes: await sharp((await bare(20)).bytes)
      .jpeg({ quality: 20 })
      .withIccProfile('p3')
      .toBuffer(),
    mimeType: 'image/jpeg',
  };
  t.equal((await sharp((await optimize(t, { quality: 95 }, profiled)).bytes).metadata()).icc, undefined);
});

t.test('animations go from gif to webp and back to a single picture', async (t) => {
  const frames = ['#ff0000', '#00ff00', '#0000ff'].map((background) => ({
    create: { width: 40, height: 30, channels: 3 as const, background },
  }));
  const inputs = await Promise.all(frames.map((frame) => sharp(frame).png().toBuffer()));
  const bytes = await sharp(inputs, { join: { animated: true } })
    .gif({ delay: [100, 200, 300] })
    .toBuffer();
  const gif = { bytes, mimeType: 'image/gif' };
  const webp = await optimize(t, { format: 'webp' }, gif);
  t.match(webp.output.meta, { width: 40, height: 30, format: 'webp', pages: 3 });
  t.match(await sharp(webp.bytes).metadata(), { pages: 3, delay: [100, 200, 300] });
  t.match((await optimize(t, {}, gif)).output, { mimeType: 'image/gif', meta: { pages: 3 } });
  for (const format of ['jpeg', 'png', 'avif'] as const) {
    const still = await optimize(t, { format }, gif);
    t.match(still.output.meta, { width: 40, height: 30, pages: 1 }, format);
    t.same((await cornersOf(still.bytes))[2], 'red', format);
  }
});

t.test('transparency becomes white in jpeg and stays elsewhere', async (t) => {
  const clear = sharp({ create: { width: 20, height: 20, channels: 4, background: '#00000000' } });
  const file = { bytes: await clear.png().toBuffer(), mimeType: 'image/png' };
  const jpeg = await optimize(t, { format: 'jpeg' }, file);
  t.same((await cornersOf(jpeg.bytes))[0], 'white');
  t.equal(jpeg.output.meta['hasAlpha'], false);
  t.equal((await optimize(t, { format: 'webp' }, file)).output.meta['hasAlpha'], true);
});

t.test('an intermediate carries what metadata lets through, and the type it is to be', async (t) => {
  const file = {
    bytes: await makePhoto({ width: 200, height: 100, orientation: 6, gps: true }),
    mimeType: 'image/jpeg',
  };
  const chain = async (metadata: 'none' | 'all') => {
    const run = runKind(t, optimizeNode, { format: 'webp', metadata }, [file], { intermediate: true });
    const { output } = await only(run);
    t.match(output, { mimeType: 'image/webp', fileName: 'IMG_1.webp', meta: { format: 'webp', width: 200 } });
    return optimize(t, { metadata: 'all' }, output);
  };
  const kept = await chain('all');
  t.ok(kept.bytes.includes(artist) && hasGps(kept.bytes));
  const stripped = await chain('none');
  t.notOk(stripped.bytes.includes(artist) || hasGps(stripped.bytes), 'what is gone cannot come back');
  t.same(await cornersOf(stripped.bytes), uprightCorners);
});

t.test('resize and optimize in a row', async (t) => {
  const file = {
    bytes: await makePhoto({ width: 600, height: 400, orientation: 6, gps: true }),
    mimeType: 'image/jpeg',
  };
  const { output } = await only(runKind(t, resizeNode, { width: 300 }, [file], { intermediate: true }));
  const { output: last, bytes } = await optimize(t, { format: 'avif' }, output);
  t.match(last, { mimeType: 'image/avif', fileName: 'IMG_1.avif', meta: { width: 300, height: 200, format: 'avif' } });
  t.same(await cornersOf(bytes), uprightCorners);
  t.notOk(hasGps(bytes));
});

t.test('a picture with a side over the limit is refused', async (t) => {
  const change = { limits: { ...limits, maxSide: 150 } };
  await t.rejects(runKind(t, optimizeNode, {}, [await photo(100, 160)], change), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 150, actual: 160 },
  });
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(optimizeNode.options, options);
  t.ok(valid({ format: 'webp', quality: 1, effort: 6, lossless: true, progressive: true, metadata: 'all' }));
  for (const options of [
    { format: 'gif' },
    { quality: 0 },
    { quality: 101 },
    { effort: 7 },
    { lossless: 'yes' },
    { metadata: 'some' },
    { keepIfLarger: 'never' },
    { maxBytes: 0 },
    { strip: true },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
  t.match(optimizeNode.check?.({ format: 'jpeg', lossless: true }), /^lossless /);
  t.match(optimizeNode.check?.({ format: 'webp', lossless: true, maxBytes: 5 }), /^maxBytes /);
  t.match(optimizeNode.check?.({ format: 'avif', effort: 5 }), /^effort /);
  t.equal(optimizeNode.check?.({ format: 'webp', effort: 5, lossless: true }), undefined);
});

t.test('it delivers the format asked for, else what comes in', async (t) => {
  t.same(optimizeNode.produces({ format: 'avif' }, ['image/png']), ['image/avif']);
  t.same(optimizeNode.produces({}, ['image/png', 'application/pdf']), ['image/png']);
});
