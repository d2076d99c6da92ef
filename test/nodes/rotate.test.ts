import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { optimizeNode, rotateNode } from '../../src/nodes/index.ts';
import { rotatedSize } from '../../src/nodes/rotate.ts';
import { looksLike, type Operation, withPillow } from '../support/oracle.ts';
import { makePhoto } from '../support/photo.ts';
import { animation, delays, framesOf, type Picture, pictureSorts, transparent } from '../support/pictures.ts';
import { limits, only, runKind } from '../support/run-kind.ts';

type Options = Static<typeof rotateNode.options>;

const rotate = (t: Test, options: Options, file: Picture, change = {}) =>
  only(runKind(t, rotateNode, options, [file], change));

const clear = [0, 0, 0, 0] as const;
const white = [255, 255, 255, 255] as const;

const turn = (angle: number, background: Extract<Operation, { do: 'rotate' }>['background'] = clear) =>
  ({ do: 'rotate', angle, background }) as const;

/** `[red, green, blue, alpha]` of the pixel in the top left corner. */
const corner = async (bytes: Buffer) => [
  ...(await sharp(bytes).ensureAlpha().extract({ left: 0, top: 0, width: 1, height: 1 }).raw().toBuffer()),
];

t.test('any angle turns clockwise, whole quarters without a trace', withPillow, async (t) => {
  const file = await transparent();
  for (const angle of [0, 90, 180, 270, 360, -90, 450, 1, 45, 123.4, -17, 377]) {
    const { output, bytes } = await rotate(t, { angle }, file);
    t.match(output.meta, { ...rotatedSize({ width: 240, height: 180 }, angle), hasAlpha: true, pages: 1 });
    await looksLike(t, bytes, file.bytes, [turn(angle)], `${angle}`);
  }
  const around = await rotate(t, { angle: 360 }, file);
  t.same((await rotate(t, {}, file)).bytes, around.bytes, 'by default it is only turned upright');
  const back = await rotate(t, { angle: -90 }, { ...file, bytes: (await rotate(t, { angle: 90 }, file)).bytes });
  t.same(await sharp(back.bytes).raw().toBuffer(), await sharp(file.bytes).raw().toBuffer());
});

t.test('flip and flop mirror, before the turn', withPillow, async (t) => {
  const file = await transparent();
  for (const angle of [0, 90, 30]) {
    for (const [flip, flop] of [
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      const { bytes } = await rotate(t, { angle, flip, flop }, file);
      const mirrors = [...(flip ? [{ do: 'flip' } as const] : []), ...(flop ? [{ do: 'flop' } as const] : [])];
      await looksLike(t, bytes, file.bytes, [...mirrors, turn(angle)]);
    }
  }
});

t.test('background fills the corners: with nothing by default, with white in jpeg', withPillow, async (t) => {
  const sorts = await pictureSorts();
  const corners = async (name: string, background?: string) => {
    const { bytes } = await rotate(t, { angle: 30, ...(background && { background }) }, sorts[name] as Picture);
    return corner(bytes);
  };
  for (const name of ['alpha', 'grey', '16 bit', 'TIFF', 'WebP', 'AVIF', 'Display P3']) {
    t.same((await corners(name))[3], 0, name);
    const [red = 0, green = 0, blue = 255, alpha = 0] = await corners(name, '#ff8000');
    t.ok(red > 250 && Math.abs(green - 128) < 6 && blue < 6 && alpha === 255, `${name}: ${[red, green, blue, alpha]}`);
  }
  t.same(await corners('orientation 6'), [255, 255, 255, 255]);
  const [red = 0, green = 0] = await corners('CMYK', '#ff000080');
  t.ok(red > 250 && green > 115 && green < 140, 'half of red over white');
  const { bytes } = await rotate(t, { angle: 30, background: '#00f' }, sorts['alpha'] as Picture);
  await looksLike(t, bytes, (sorts['alpha'] as Picture).bytes, [turn(30, [0, 0, 255, 255])]);
});

t.test('pictures of every sort are turned from how they are seen', withPillow, async (t) => {
  for (const [name, file] of Object.entries(await pictureSorts())) {
    for (const angle of [90, 20]) {
      const { output, bytes } = await rotate(t, { angle, flip: true }, file);
      t.equal(output.mimeType, file.mimeType);
      const background = file.mimeType === 'image/jpeg' ? white : clear;
      await looksLike(t, bytes, file.bytes, [{ do: 'flip' }, turn(angle, background)], `${name} by ${angle}`);
    }
  }
});

t.test('each frame of an animation is turned', withPillow, async (t) => {
  for (const format of ['gif', 'webp'] as const) {
    const file = await animation(format);
    const before = await framesOf(file.bytes);
    for (const intermediate of [false, true]) {
      const turned = await rotate(t, { angle: 90, flip: true }, file, { intermediate });
      t.match(turned.output.meta, { width: 180, height: 240, format, pages: 3 });
      const { bytes } = await only(runKind(t, rotateNode, {}, [turned.output]));
      t.match(await sharp(bytes).metadata(), { format, pages: 3, delay: delays, loop: 2, width: 180, height: 240 });
      for (const [index, frame] of (await framesOf(bytes)).entries()) {
        await looksLike(t, frame, before[index]!, [{ do: 'flip' }, turn(90)], `${format} ${index}`);
      }
    }
    const tilted = await rotate(t, { angle: 10 }, file);
    t.match(tilted.output.meta, { ...rotatedSize({ width: 240, height: 180 }, 10), pages: 3, hasAlpha: true });
  }
});

t.test('an intermediate keeps its corners clear and its metadata, whatever it will be', withPillow, async (t) => {
  const bytes = await makePhoto({ width: 200, height: 100, orientation: 6, smooth: true });
  const file = { bytes, mimeType: 'image/jpeg' };
  const { output } = await rotate(t, { angle: 30 }, file, { intermediate: true });
  t.match(output, { mimeType: 'image/jpeg', meta: { format: 'jpeg' } });
  const png = await only(runKind(t, optimizeNode, { format: 'png', metadata: 'all' }, [output]));
  await looksLike(t, png.bytes, bytes, [turn(30)]);
  t.ok((await sharp(png.bytes).metadata()).exif);
  const jpeg = await only(runKind(t, optimizeNode, {}, [output]));
  await looksLike(t, jpeg.bytes, bytes, [turn(30, white)]);
  t.equal((await sharp(jpeg.bytes).metadata()).exif, undefined);
});

t.test('a picture that would be too wide once turned is refused before', async (t) => {
  // The header is whole and the pixels are not: that they are missing is not seen.
  const bytes = (await makePhoto({ width: 300, height: 200 })).subarray(0, 2000);
  const file = { bytes, mimeType: 'image/jpeg' };
  const within = (maxSide: number) => rotate(t, { angle: 45 }, file, { limits: { ...limits, maxSide } });
  await t.rejects(within(353), { code: 'FILE_TOO_LARGE', details: { limit: 'side', max: 353, actual: 354 } });
  await t.rejects(within(354), { code: 'INVALID_INPUT' });
});

t.test('the size is known beforehand', async (t) => {
  for (const [width, height] of [
    [61, 37],
    [100, 100],
    [7, 300],
  ] as const) {
    const bytes = await sharp({ create: { width, height, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    for (let angle = -400; angle < 400; angle += 36.5) {
      const { info } = await sharp(bytes).rotate(angle).toBuffer({ resolveWithObject: true });
      const expected = { width: info.width, height: info.height };
      t.same(rotatedSize({ width, height }, angle), expected, `${width} x ${height} by ${angle}`);
    }
  }
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(rotateNode.options, options);
  t.ok(valid({}));
  t.ok(valid({ angle: -1234.5, background: '#abc', flip: true, flop: true }));
  for (const options of [
    { angle: '90' },
    { angle: Number.NaN },
    { background: 'red' },
    { flip: 1 },
    { flop: 1 },
    { turn: 1 },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
  t.same(rotateNode.produces({}, ['image/png', 'text/plain']), ['image/png']);
});
