import sharp from 'sharp';
import t from 'tap';
import { Value } from 'typebox/value';
import { optimizeNode, watermarkNode } from '../../src/nodes/index.ts';
import { cornersOf, hasGps, makePhoto, uprightCorners } from '../support/photo.ts';
import { pixelsOf, plainPng } from '../support/pixels.ts';
import { limits, only, runKind } from '../support/run-kind.ts';
import { type Options, overlay, red, run } from './watermark/run.ts';

t.test('both come upright, whatever their orientation', async (t) => {
  const main = {
    bytes: await makePhoto({ width: 600, height: 300, orientation: 6, gps: true }),
    mimeType: 'image/jpeg',
  };
  const mark = {
    bytes: await makePhoto({ width: 120, height: 120, orientation: 8 }),
    mimeType: 'image/jpeg',
    handle: 'overlay',
  };
  const { bytes, output } = await run(t, { gravity: 'centre' }, [main, mark]);
  t.match(output, { mimeType: 'image/jpeg', fileName: 'IMG_1.jpg', meta: { width: 600, height: 300 } });
  t.same(await cornersOf(bytes), uprightCorners);
  const region = { left: 240, top: 90, width: 120, height: 120 };
  t.same(await cornersOf(await sharp(bytes).extract(region).png().toBuffer()), uprightCorners);
  t.notOk(hasGps(bytes), 'and metadata goes');
});

t.test('transparency stays, and none is added', async (t) => {
  const clear = await run(t, {}, [await plainPng(20, 10, '#0000ff80'), await overlay(4, 2)]);
  t.same([clear.pixels.at(0, 0), clear.pixels.at(19, 9)], [[0, 0, 255, 128], red]);
  const solid = await run(t, {}, [await plainPng(20, 10, '#0000ff'), await overlay(4, 2, '#ff000080')]);
  t.equal((await sharp(solid.bytes).metadata()).hasAlpha, false);
  t.equal(solid.output.meta['hasAlpha'], false);
});

t.test('grey, deep and printed pictures take colour', async (t) => {
  const grey = (await plainPng(20, 10, '#404040')).bytes;
  const pictures = {
    grey: { bytes: await sharp(grey).greyscale().png().toBuffer(), mimeType: 'image/png' },
    deep: { bytes: await sharp(grey).toColourspace('rgb16').png().toBuffer(), mimeType: 'image/png' },
    cmyk: { bytes: await sharp(grey).toColourspace('cmyk').jpeg().toBuffer(), mimeType: 'image/jpeg' },
  };
  for (const [name, picture] of Object.entries(pictures)) {
    const { pixels } = await run(t, { scale: 0.8 }, [picture, await overlay(40, 20)]);
    const [redness = 0, green = 255] = pixels.at(14, 6);
    t.ok(redness > 240 && green < 20, `${name}: ${pixels.at(14, 6)}`);
    const [base = 0] = pixels.at(0, 0);
    t.ok(Math.abs(base - 64) < 12, `${name}: ${pixels.at(0, 0)}`);
  }
});

t.test('one overlay goes on each of several pictures', async (t) => {
  const mains = [await plainPng(20, 10, '#0000ff'), await plainPng(10, 10, '#00ff00')];
  const outputs = await runKind(t, watermarkNode, {}, [await overlay(4, 2), ...mains, await overlay(2, 2, '#00ffff')]);
  t.same(
    outputs.map(({ meta }) => meta['width']),
    [20, 10],
    'only pictures of the main input come out',
  );
});

t.test('it takes bare pixels and leaves them bare', async (t) => {
  const main = { bytes: await makePhoto({ width: 60, height: 40, gps: true }), mimeType: 'image/jpeg' };
  const bare = { intermediate: true };
  const before = await only(runKind(t, watermarkNode, { text: 'one' }, [main], bare));
  t.match(before.output, { mimeType: 'image/jpeg', meta: { format: 'jpeg' } });
  t.equal((await sharp(before.output.path).metadata()).format, 'vips');
  const next = await only(runKind(t, watermarkNode, {}, [before.output, await overlay(4, 2)], bare));
  const last = await only(runKind(t, optimizeNode, { metadata: 'all' }, [next.output]));
  t.ok(hasGps(last.bytes), 'metadata comes all the way');
  const { at } = await pixelsOf(last.bytes);
  const [redness = 0, green = 255] = at(57, 37);
  t.ok(redness > 180 && green < 90, `${at(57, 37)}`);
});

t.test('without an overlay there is nothing to do', async (t) => {
  const main = await plainPng(20, 10, '#0000ff');
  await t.rejects(run(t, {}, [main]), { code: 'MISSING_INPUT', details: { handle: 'overlay' } });
  await t.rejects(run(t, { image: 'assets/logo.png' }, [main]), { code: 'MISSING_INPUT' });
  await t.rejects(run(t, { text: 'x' }, [main, await overlay(4, 2)]), { code: 'INVALID_PARAMS', message: /^text / });
});

t.test('limits and damage have their codes', async (t) => {
  const main = await plainPng(20, 10, '#0000ff');
  await t.rejects(run(t, { text: 'x' }, [main], { limits: { ...limits, maxPixels: 199 } }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'pixels' },
  });
  await t.rejects(run(t, { text: 'x' }, [main], { limits: { ...limits, maxSide: 19 } }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 19, actual: 20 },
  });
  const small = { limits: { ...limits, maxPixels: 899 } };
  await t.rejects(run(t, {}, [main, await overlay(30, 30)], small), { code: 'FILE_TOO_LARGE' }, 'of the overlay too');
  const text = { bytes: Buffer.from('Dear reader'), mimeType: 'image/png', handle: 'overlay', fileName: 'mark.png' };
  await t.rejects(run(t, {}, [main, text]), { code: 'UNSUPPORTED_FORMAT', message: /^mark\.png/ });
  await t.rejects(run(t, { text: '日本' }, [main]), {
    code: 'INVALID_PARAMS',
    message: 'text has characters that the font does not have: 日 本',
  });
});

t.test('the key of an image is below assets/, and the engine is told of it', async (t) => {
  t.same(watermarkNode.assets?.({ image: 'assets/logos/mark-2.png' }), { overlay: 'assets/logos/mark-2.png' });
  t.same(watermarkNode.assets?.({ text: 'x' }), {});
  t.ok(Value.Check(watermarkNode.options, { image: 'assets/logo.png' }));
  t.notOk(Value.Check(watermarkNode.options, { image: 'assets/../logo.png' }));
});

t.test('options that exclude each other are refused', async (t) => {
  const refused: readonly [Options, RegExp][] = [
    [{ color: '#fff' }, /^color is for a text/],
    [{ image: 'assets/x.png', fontSize: 5 }, /^fontSize is for a text/],
    [{ text: 'x', fontSize: 5, scale: 0.1 }, /^fontSize takes the place of scale/],
    [{ left: 1, gravity: 'north' }, /^left takes the place of gravity/],
    [{ top: 1, gravity: 'north' }, /^top takes the place of gravity/],
    [{ top: 1, tile: true }, /^top has no meaning with tile/],
    [{ text: ' \n' }, /^text is empty/],
    [{ text: 'a\u0007' }, /^text has control characters/],
    [{ text: '漢字' }, /^text has characters that the font does not have: 漢 字/],
  ];
  for (const [options, message] of refused) t.match(watermarkNode.check?.(options), message);
  for (const options of [
    {},
    { text: '{{file.name}}\n漢' },
    { text: 'x', color: '#fff', fontSize: '5%', left: '1.5%' },
  ]) {
    t.equal(watermarkNode.check?.(options), undefined);
  }
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(watermarkNode.options, options);
  t.ok(valid({ text: 'x', gravity: 'centre', scale: 1, opacity: 0, tile: true, blend: 'soft-light' }));
  for (const options of [
    { text: '' },
    { text: 'x'.repeat(501) },
    { gravity: 'middle' },
    { left: -1 },
    { left: '101%' },
    { top: '5' },
    { top: 1.5 },
    { scale: 0 },
    { scale: 1.1 },
    { opacity: -0.1 },
    { opacity: 2 },
    { tile: 'yes' },
    { blend: 'clear' },
    { color: 'white' },
    { fontSize: 0 },
    { fontSize: '5px' },
    { position: 'north' },
  ]) {
    t.notOk(valid(options), JSON.stringify(options).slice(0, 60));
  }
});

t.test('it delivers the images among what comes in', async (t) => {
  t.same(watermarkNode.produces({}, ['image/png', 'text/plain', '*/*']), ['image/png', 'image/*']);
  t.match({ ...watermarkNode }, { pixels: true, inputHandles: ['overlay'] });
});

t.test('progress counts the pictures, and not what goes over them', async (t) => {
  const shares: number[] = [];
  const files = [await plainPng(20, 10, '#0000ff'), await overlay(4, 4), await plainPng(20, 10, '#0000ff')];
  await runKind(t, watermarkNode, {}, files, { progress: (share) => void shares.push(share) });
  t.strictSame(shares, [0.5, 1]);
});
