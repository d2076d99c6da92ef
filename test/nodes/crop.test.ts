import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { cropNode, optimizeNode } from '../../src/nodes/index.ts';
import { looksLike, withPillow } from '../support/oracle.ts';
import { makePhoto } from '../support/photo.ts';
import { animation, delays, framesOf, type Picture, pictureSorts } from '../support/pictures.ts';
import { limits, only, runKind } from '../support/run-kind.ts';

type Options = Static<typeof cropNode.options>;

const crop = (t: Test, options: Options, file: Picture, change = {}) =>
  only(runKind(t, cropNode, options, [file], change));

const photo = async (width: number, height: number): Promise<Picture> => ({
  bytes: await makePhoto({ width, height, type: 'image/png' }),
  mimeType: 'image/png',
});

t.test('a part is given in pixels or in percent', withPillow, async (t) => {
  const file = await photo(200, 150);
  const parts: [Options, readonly [number, number, number, number]][] = [
    [{ left: 20, top: 30, width: 50, height: 40 }, [20, 30, 50, 40]],
    [{ left: '25%', top: '10%', width: '50%', height: '20%' }, [50, 15, 100, 30]],
    [{ left: 0, top: '50%', width: '12.5%', height: 75 }, [0, 75, 25, 75]],
    [{ left: 0, top: 0, width: '100%', height: '100%' }, [0, 0, 200, 150]],
    [{ left: 199, top: 149, width: '0.1%', height: 1 }, [199, 149, 1, 1]],
  ];
  for (const [options, [left, top, width, height]] of parts) {
    const { output, bytes } = await crop(t, options, file);
    t.match(output.meta, { width, height, format: 'png', pages: 1 });
    await looksLike(t, bytes, file.bytes, [{ do: 'crop', left, top, width, height }]);
  }
});

t.test('position says where the part is, the centre where nothing does', withPillow, async (t) => {
  const file = await photo(200, 150);
  const [width, height] = [61, 40];
  const corners = {
    centre: [70, 55],
    top: [70, 0],
    'right top': [139, 0],
    right: [139, 55],
    'right bottom': [139, 110],
    bottom: [70, 110],
    'left bottom': [0, 110],
    left: [0, 55],
    'left top': [0, 0],
  };
  for (const [position, [left = 0, top = 0]] of Object.entries(corners)) {
    const { bytes } = await crop(t, { width, height, position: position as 'centre' }, file);
    await looksLike(t, bytes, file.bytes, [{ do: 'crop', left, top, width, height }], position);
  }
  const { bytes } = await crop(t, { width, height }, file);
  await looksLike(t, bytes, file.bytes, [{ do: 'crop', left: 70, top: 55, width, height }], 'the default');
});

t.test('entropy and attention find the part that matters, at its size', async (t) => {
  const detail = await sharp(await makePhoto({ width: 60, height: 60 }))
    .png()
    .toBuffer();
  const empty = sharp({ create: { width: 400, height: 300, channels: 3, background: '#808080' } });
  const bytes = await empty
    .composite([{ input: detail, left: 330, top: 230 }])
    .png()
    .toBuffer();
  const file = { bytes, mimeType: 'image/png' };
  const whole = await sharp(bytes).raw().toBuffer();
  for (const position of ['entropy', 'attention'] as const) {
    const part = await crop(t, { width: 70, height: 70, position }, file);
    t.match(part.output.meta, { width: 70, height: 70 });
    const { entropy } = await sharp(part.bytes).stats();
    t.ok(entropy > 3, `${position}: ${entropy}`);
    const row = await sharp(part.bytes).extract({ left: 0, top: 35, width: 70, height: 1 }).raw().toBuffer();
    t.ok(whole.includes(row), 'not scaled: its pixels are those of the picture');
  }
});

t.test('a part that is not all within the picture is refused, or made smaller', withPillow, async (t) => {
  const file = await photo(200, 150);
  const over = { left: 150, top: '80%', width: 100, height: '50%' } as const;
  await t.rejects(crop(t, over, file), {
    code: 'INVALID_PARAMS',
    message: 'IMG_1.upload is 200 x 150 pixels: 100 x 75 at 150, 120 is not within it',
    details: { width: 200, height: 150, area: { left: 150, top: 120, width: 100, height: 75 } },
  });
  const clamped = await crop(t, { ...over, outside: 'clamp' }, file);
  await looksLike(t, clamped.bytes, file.bytes, [{ do: 'crop', left: 150, top: 120, width: 50, height: 30 }]);
  for (const outside of ['error', 'clamp'] as const) {
    const nothing = crop(t, { left: 200, top: 0, width: 1, height: 1, outside }, file);
    await t.rejects(nothing, { code: 'INVALID_PARAMS' }, `${outside}: nothing is left`);
  }
  const large = { width: 300, height: 100 };
  await t.rejects(crop(t, large, file), { code: 'INVALID_PARAMS' });
  const kept = await crop(t, { ...large, outside: 'clamp' }, file);
  await looksLike(t, kept.bytes, file.bytes, [{ do: 'crop', left: 0, top: 25, width: 200, height: 100 }]);
});

t.test('pictures of every sort are cut as they are seen', withPillow, async (t) => {
  const area = { left: 20, top: 12, width: 160, height: 120 };
  for (const [name, file] of Object.entries(await pictureSorts())) {
    for (const options of [area, { width: area.width, height: area.height, position: 'left top' } as const]) {
      const { output, bytes } = await crop(t, options, file);
      t.equal(output.mimeType, file.mimeType);
      const { left = 0, top = 0 } = 'left' in options ? options : {};
      await looksLike(t, bytes, file.bytes, [{ do: 'crop', ...area, left, top }], name);
    }
  }
});

t.test('an animation keeps its frames and times', withPillow, async (t) => {
  const size = { width: 140, height: 90 };
  for (const format of ['gif', 'webp'] as const) {
    const file = await animation(format);
    const before = await framesOf(file.bytes);
    for (const options of [{ left: 10, top: 80 }, { position: 'right bottom' } as const]) {
      const { output, bytes } = await crop(t, { ...size, ...options }, file);
      t.match(output.meta, { ...size, format, pages: 3 });
      t.match(await sharp(bytes).metadata(), { pages: 3, delay: delays, loop: 2 });
      const { left = 100, top = 90 } = 'left' in options ? options : {};
      for (const [index, frame] of (await framesOf(bytes)).entries()) {
        await looksLike(t, frame, before[index]!, [{ do: 'crop', left, top, ...size }], `${format} ${index}`);
      }
    }
  }
  const smart = { width: 30, height: 30, position: 'attention' } as const;
  const still = await crop(t, smart, await animation());
  t.match(still.output.meta, { width: 30, height: 30, format: 'gif', pages: 1 }, 'where libvips cannot: the first');
});

t.test('an intermediate is cut too, and keeps its metadata', withPillow, async (t) => {
  const bytes = await makePhoto({ width: 200, height: 100, orientation: 6 });
  const area = { left: 20, top: 10, width: 50, height: 40 };
  const { output } = await crop(t, area, { bytes, mimeType: 'image/jpeg' }, { intermediate: true });
  t.match(await sharp(output.path).metadata(), { format: 'vips', width: 50, height: 40 });
  const last = await only(runKind(t, optimizeNode, { format: 'png', metadata: 'all' }, [output]));
  await looksLike(t, last.bytes, bytes, [{ do: 'crop', ...area }]);
  t.ok((await sharp(last.bytes).metadata()).exif, 'metadata has come along');
  const stripped = await crop(t, area, { bytes, mimeType: 'image/jpeg' });
  t.equal((await sharp(stripped.bytes).metadata()).exif, undefined);
});

t.test('a first frame that is an intermediate is one picture from then on', async (t) => {
  const smart = { width: 30, height: 30, position: 'attention' } as const;
  const { output } = await crop(t, smart, await animation(), { intermediate: true });
  const last = await only(runKind(t, cropNode, { width: 20, height: 20 }, [output]));
  t.match(last.output.meta, { width: 20, height: 20, format: 'gif', pages: 1 });
});

t.test('a part with a side over the limit is refused', async (t) => {
  const change = { limits: { ...limits, maxSide: 50 } };
  await t.rejects(crop(t, { width: 40, height: 51 }, await photo(60, 60), change), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 50, actual: 51 },
  });
  await t.resolves(crop(t, { width: 40, height: 50 }, await photo(60, 60), change));
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(cropNode.options, options);
  const size = { width: 1, height: '0.5%' };
  t.ok(valid(size));
  t.ok(valid({ ...size, left: '0%', top: '100%', outside: 'clamp' }));
  t.ok(valid({ width: '100%', height: 20_000, position: 'attention' }));
  for (const options of [
    {},
    { width: 1 },
    { height: 1 },
    { ...size, width: 0 },
    { ...size, width: 1.5 },
    { ...size, width: '0%' },
    { ...size, width: '0.0%' },
    { ...size, width: '101%' },
    { ...size, width: '10' },
    { ...size, width: '-5%' },
    { ...size, left: -1 },
    { ...size, top: '100.5%' },
    { ...size, position: 'middle' },
    { ...size, outside: 'pad' },
    { ...size, right: 1 },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
  const check = (options: object) => cropNode.check?.({ width: 1, height: 1, ...options });
  t.match(check({ left: 1 }), /^left /);
  t.match(check({ top: 1 }), /^left /);
  t.match(check({ left: 1, top: 1, position: 'top' }), /^position /);
  t.equal(check({ left: 1, top: 1 }), undefined);
  t.equal(check({ position: 'top' }), undefined);
});

t.test('it delivers the images among what comes in', async (t) => {
  t.same(cropNode.produces({ width: 1, height: 1 }, ['image/png', 'text/plain']), ['image/png']);
});
