import sharp from 'sharp';
import t, { type Test } from 'tap';
import { Value } from 'typebox/value';
import { grayscaleNode, optimizeNode } from '../../src/nodes/index.ts';
import { looksLike, withPillow } from '../support/oracle.ts';
import { makePhoto } from '../support/photo.ts';
import { animation, delays, framesOf, type Picture, pictureSorts } from '../support/pictures.ts';
import { limits, only, runKind } from '../support/run-kind.ts';

const grayscale = (t: Test, file: Picture, change = {}) => only(runKind(t, grayscaleNode, {}, [file], change));

const grey = { do: 'grayscale' } as const;

t.test('what is left is brightness as light adds up', async (t) => {
  const known = { '#ff0000': 127, '#00ff00': 220, '#0000ff': 76, '#ffffff': 255, '#808080': 128, '#000000': 0 };
  for (const [background, value] of Object.entries(known)) {
    const bytes = await sharp({ create: { width: 2, height: 2, channels: 3, background } })
      .png()
      .toBuffer();
    const written = await grayscale(t, { bytes, mimeType: 'image/png' });
    const { data, info } = await sharp(written.bytes).raw().toBuffer({ resolveWithObject: true });
    t.same([...data.subarray(0, info.channels)], Array(info.channels).fill(value), background);
  }
});

t.test('pictures of every sort lose their colour', withPillow, async (t) => {
  for (const [name, file] of Object.entries(await pictureSorts())) {
    const { output, bytes } = await grayscale(t, file);
    t.match(output, { mimeType: file.mimeType, meta: { width: 240, height: 180, hasAlpha: name === 'alpha' } });
    await looksLike(t, bytes, file.bytes, [grey], name);
    for (const { max } of await differencesOf(bytes)) t.ok(max <= 2, `${name} has no tint`);
  }
});

t.test('one channel is written where the format has it', async (t) => {
  for (const type of ['image/jpeg', 'image/png', 'image/tiff'] as const) {
    const bytes = await makePhoto({ width: 40, height: 30, type });
    const written = await grayscale(t, { bytes, mimeType: type });
    t.match(await sharp(written.bytes).metadata(), { channels: 1, space: 'b-w' }, type);
  }
});

t.test('each frame of an animation loses its colour', withPillow, async (t) => {
  for (const format of ['gif', 'webp'] as const) {
    const file = await animation(format);
    const before = await framesOf(file.bytes);
    const { output, bytes } = await grayscale(t, file);
    t.match(output.meta, { width: 240, height: 180, format, pages: 3, hasAlpha: true });
    t.match(await sharp(bytes).metadata(), { pages: 3, delay: delays, loop: 2 });
    for (const [index, frame] of (await framesOf(bytes)).entries()) {
      await looksLike(t, frame, before[index]!, [grey], `${format} ${index}`);
    }
  }
});

t.test('an intermediate keeps its metadata, but not the profile of colours that are gone', withPillow, async (t) => {
  const plain = await makePhoto({ width: 200, height: 100, orientation: 6, smooth: true });
  const bytes = await sharp(plain).keepMetadata().withIccProfile('p3').jpeg({ quality: 95 }).toBuffer();
  const { output } = await grayscale(t, { bytes, mimeType: 'image/jpeg' }, { intermediate: true });
  t.match(await sharp(output.path).metadata(), { format: 'vips', channels: 1 });
  const last = await only(runKind(t, optimizeNode, { metadata: 'all' }, [output]));
  await looksLike(t, last.bytes, bytes, [grey]);
  const { exif, icc } = await sharp(last.bytes).metadata();
  t.ok(exif);
  t.equal(icc, undefined);
  const stripped = await grayscale(t, { bytes, mimeType: 'image/jpeg' });
  t.equal((await sharp(stripped.bytes).metadata()).exif, undefined);
});

t.test('a picture with a side over the limit is refused', async (t) => {
  const bytes = await makePhoto({ width: 30, height: 60 });
  await t.rejects(grayscale(t, { bytes, mimeType: 'image/jpeg' }, { limits: { ...limits, maxSide: 59 } }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 59, actual: 60 },
  });
});

t.test('it has no options', async (t) => {
  t.ok(Value.Check(grayscaleNode.options, {}));
  t.notOk(Value.Check(grayscaleNode.options, { strength: 1 }));
  t.same(grayscaleNode.produces({}, ['image/png', 'text/plain']), ['image/png']);
});

/** How far the channels are from one another. */
const differencesOf = async (bytes: Buffer) => {
  const [red, green, blue] = await Promise.all(
    ([0, 1, 2] as const).map((channel) =>
      sharp(bytes).toColourspace('srgb').removeAlpha().extractChannel(channel).png().toBuffer(),
    ),
  );
  const between = async (one: Buffer, other: Buffer) => {
    const apart = await sharp(one)
      .composite([{ input: other, blend: 'difference' }])
      .toBuffer();
    return (await sharp(apart).stats()).channels[0]!;
  };
  return Promise.all([between(red!, green!), between(green!, blue!)]);
};
