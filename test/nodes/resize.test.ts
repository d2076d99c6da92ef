import { extname } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { Value } from 'typebox/value';
import { cropNode, optimizeNode, resizeNode } from '../../src/nodes/index.ts';
import { resizedSize } from '../../src/nodes/resize.ts';
import { looksLike, withPillow } from '../support/oracle.ts';
import { cornersOf, hasGps, makePhoto, uprightCorners } from '../support/photo.ts';
import { pictureSorts } from '../support/pictures.ts';
import { limits, only, runKind } from '../support/run-kind.ts';

const jpeg = async (width: number, height: number, orientation = 1) => ({
  bytes: await makePhoto({ width, height, orientation, gps: true }),
  mimeType: 'image/jpeg',
});

const png = async (picture: ReturnType<typeof sharp>) => ({
  bytes: await picture.png().toBuffer(),
  mimeType: 'image/png',
});

const plain = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 4, background } });

const animation = async (width: number, height: number) => {
  const frames = await Promise.all(
    ['#ff0000', '#00ff00', '#0000ff'].map((colour) => plain(width, height, colour).png().toBuffer()),
  );
  const gif = sharp(frames, { join: { animated: true } }).gif({ delay: [100, 200, 300], loop: 2 });
  return { bytes: await gif.toBuffer(), mimeType: 'image/gif' };
};

/** `[red, green, blue, alpha]` of a pixel. */
const pixel = async (bytes: Buffer, left: number, top: number) => [
  ...(await sharp(bytes).ensureAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
];

t.test('one side given keeps the proportions', async (t) => {
  const file = await jpeg(400, 300);
  t.match((await only(runKind(t, resizeNode, { width: 200 }, [file]))).output.meta, { width: 200, height: 150 });
  t.match((await only(runKind(t, resizeNode, { height: 60 }, [file]))).output.meta, { width: 80, height: 60 });
});

t.test('fit decides what two sides mean', async (t) => {
  const file = await jpeg(400, 300);
  const sizes = { inside: [100, 75], cover: [100, 100], contain: [100, 100], fill: [100, 100], outside: [133, 100] };
  for (const [fit, [width, height]] of Object.entries(sizes)) {
    const options = { width: 100, height: 100, fit: fit as 'cover' };
    const { output, bytes } = await only(runKind(t, resizeNode, options, [file]));
    t.match(output.meta, { width, height }, fit);
    t.match(await sharp(bytes).metadata(), { width, height, format: 'jpeg' }, fit);
  }
  const byDefault = await only(runKind(t, resizeNode, { width: 100, height: 100 }, [file]));
  t.match(byDefault.output.meta, { width: 100, height: 75 }, 'inside is the default');
});

t.test('cover cuts, contain pads and fill stretches', async (t) => {
  const file = await jpeg(400, 200);
  const both = { width: 100, height: 100 } as const;
  const run = async (fit: 'cover' | 'contain' | 'fill') =>
    cornersOf((await only(runKind(t, resizeNode, { ...both, fit }, [file]))).bytes);
  t.same(await run('fill'), uprightCorners);
  t.notSame(await run('cover'), uprightCorners);
  t.same(await run('contain'), ['white', 'white', 'white', 'white'], 'JPEG is padded with white');
});

t.test('position moves what cover keeps and where contain puts it', async (t) => {
  const file = await jpeg(400, 200);
  const run = async (fit: 'cover' | 'contain', position: 'left' | 'right' | 'top') =>
    cornersOf((await only(runKind(t, resizeNode, { width: 100, height: 100, fit, position }, [file]))).bytes);
  t.same((await run('cover', 'left'))[0], 'red');
  t.same((await run('cover', 'right'))[1], 'lime');
  t.same((await run('contain', 'top')).slice(0, 2), ['red', 'lime']);
});

t.test('entropy and attention find the part that matters', async (t) => {
  const detail = await sharp(await makePhoto({ width: 60, height: 60 }))
    .png()
    .toBuffer();
  const file = await png(plain(400, 60, '#808080').composite([{ input: detail, left: 330, top: 0 }]));
  for (const position of ['entropy', 'attention'] as const) {
    const options = { width: 70, height: 60, fit: 'cover', position } as const;
    const { bytes } = await only(runKind(t, resizeNode, options, [file]));
    const { entropy } = await sharp(bytes).stats();
    t.ok(entropy > 3, `${position}: ${entropy}`);
  }
  const { bytes } = await only(runKind(t, resizeNode, { width: 70, height: 60, fit: 'cover' }, [file]));
  t.equal((await sharp(bytes).stats()).entropy, 0, 'the centre is empty');
});

t.test('kernel decides how pixels are made', async (t) => {
  const file = await png(sharp(Buffer.from([0, 0, 0, 255, 255, 255]), { raw: { width: 2, height: 1, channels: 3 } }));
  const greys = async (kernel: 'nearest' | 'cubic') => {
    const options = { width: 8, kernel, withoutEnlargement: false };
    const { bytes } = await only(runKind(t, resizeNode, options, [file]));
    return new Set(await sharp(bytes).extractChannel(0).raw().toBuffer()).size;
  };
  t.equal(await greys('nearest'), 2);
  t.ok((await greys('cubic')) > 2);
});

t.test('nothing is enlarged unless it is asked for', async (t) => {
  const file = await jpeg(100, 50);
  t.match((await only(runKind(t, resizeNode, { width: 200 }, [file]))).output.meta, { width: 100, height: 50 });
  const options = { width: 200, withoutEnlargement: false };
  t.match((await only(runKind(t, resizeNode, options, [file]))).output.meta, { width: 200, height: 100 });
});

t.test('background is what contain pads with', async (t) => {
  const both = { width: 100, height: 100, fit: 'contain' } as const;
  const [photo, alpha] = [await jpeg(200, 100), await png(plain(200, 100, '#00ff00'))];
  const padding = async (file: typeof photo, background?: string) => {
    const { bytes } = await only(runKind(t, resizeNode, { ...both, ...(background && { background }) }, [file]));
    return pixel(bytes, 50, 5);
  };
  t.same(await padding(alpha), [0, 0, 0, 0], 'transparent by default');
  t.same(await padding(alpha, '#f00'), [255, 0, 0, 255]);
  t.same(await padding(alpha, '#0000ff80'), [0, 0, 255, 128]);
  t.same(await padding(photo), [255, 255, 255, 255], 'white where there is no transparency');
  const [red = 0, green = 0] = await padding(photo, '#ff000080');
  t.ok(red > 250 && green > 115 && green < 140, 'half of red over white');
});

t.test('pictures of any orientation come out upright, in upright pixels', async (t) => {
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const file = await jpeg(400, 200, orientation);
    const { output, bytes } = await only(runKind(t, resizeNode, { width: 100 }, [file]));
    t.match(output.meta, { width: 100, height: 50 }, `${orientation}`);
    t.same(await cornersOf(bytes), uprightCorners, `${orientation}`);
    const { orientation: tag, exif, icc } = await sharp(bytes).metadata();
    t.same([tag, exif, icc, hasGps(bytes)], [undefined, undefined, undefined, false]);
  }
});

t.test('the format stays, and names and types say so', async (t) => {
  const types = {
    'image/jpeg': 'jpg',
    'image/png': 'png',
    'image/webp': 'webp',
    'image/avif': 'avif',
    'image/tiff': 'tiff',
  };
  for (const [mimeType, extension] of Object.entries(types)) {
    const bytes = await makePhoto({ width: 120, height: 80, type: mimeType as 'image/png' });
    const run = runKind(t, resizeNode, { width: 60 }, [{ bytes, mimeType, fileName: 'a.b/holiday.photo.JPG' }]);
    const { output, bytes: written } = await only(run);
    t.match(output, { mimeType, fileName: `holiday.photo.${extension}` });
    t.equal(extname(output.path), `.${extension}`);
    t.same(output.meta, { width: 60, height: 40, format: mimeType.slice(6), hasAlpha: false, pages: 1 });
    t.equal((await sharp(written).metadata()).mediaType, mimeType);
  }
});

t.test('an animation keeps its frames and times', async (t) => {
  const { output, bytes } = await only(runKind(t, resizeNode, { width: 40 }, [await animation(80, 60)]));
  t.same(output.meta, { width: 40, height: 30, format: 'gif', hasAlpha: true, pages: 3 });
  t.match(await sharp(bytes).metadata(), { pages: 3, delay: [100, 200, 300], loop: 2, width: 40, height: 30 });
  const smart = { width: 40, height: 40, fit: 'cover', position: 'attention' } as const;
  const still = await only(runKind(t, resizeNode, smart, [await animation(80, 60)]));
  t.match(still.output.meta, { width: 40, height: 40, pages: 1 }, 'where libvips cannot: the first frame');
});

t.test('several files become several', async (t) => {
  const outputs = await runKind(t, resizeNode, { width: 10 }, [await jpeg(40, 20), await animation(30, 30)]);
  t.same(
    outputs.map(({ mimeType, meta }) => [mimeType, meta['height']]),
    [
      ['image/jpeg', 5],
      ['image/gif', 10],
    ],
  );
  t.not(outputs[0]?.path, outputs[1]?.path);
});

t.test('an intermediate is not encoded, and is upright only once', async (t) => {
  const run = runKind(t, resizeNode, { width: 200 }, [await jpeg(400, 200, 6)], { intermediate: true });
  const { output } = await only(run);
  t.match(output, { mimeType: 'image/jpeg', fileName: 'IMG_1.jpg', meta: { width: 200, height: 100, format: 'jpeg' } });
  t.match(await sharp(output.path).metadata(), { format: 'vips', width: 200, height: 100 });
  const next = await only(runKind(t, resizeNode, { width: 100 }, [output], { intermediate: true }));
  const last = await only(runKind(t, optimizeNode, { metadata: 'all' }, [next.output]));
  t.match(last.output, { mimeType: 'image/jpeg', meta: { width: 100, height: 50, format: 'jpeg' } });
  t.same(await cornersOf(last.bytes), uprightCorners);
  t.ok(hasGps(last.bytes), 'metadata has come all the way');
  const stripped = await only(runKind(t, resizeNode, { width: 100 }, [output]));
  t.notOk(hasGps(stripped.bytes), 'and stays only where it is asked for');
});

t.test('an intermediate animation stays one', async (t) => {
  const run = runKind(t, resizeNode, { width: 40 }, [await animation(80, 60)], { intermediate: true });
  const { output } = await only(run);
  t.match(output, { mimeType: 'image/gif', fileName: 'IMG_1.gif', meta: { pages: 3, height: 30 } });
  const gif = await only(runKind(t, resizeNode, { width: 20 }, [output]));
  t.match(await sharp(gif.bytes).metadata(), { format: 'gif', pages: 3, delay: [100, 200, 300], width: 20 });
  const jpeg = await only(runKind(t, optimizeNode, { format: 'jpeg' }, [output]));
  t.match(jpeg.output.meta, { format: 'jpeg', width: 40, height: 30, pages: 1 });
});

t.test('a picture wider than its sides allow is refused before it is made', async (t) => {
  const strip = await png(plain(10, 1000, '#123456'));
  await t.rejects(runKind(t, resizeNode, { width: 1000, withoutEnlargement: false }, [strip]), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 16_383, actual: 100_000 },
  });
  const small = { ...limits, maxSide: 50 };
  await t.rejects(runKind(t, resizeNode, { width: 60, height: 5, fit: 'contain' }, [strip], { limits: small }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 50, actual: 60 },
  });
});

t.test('the size is known beforehand', async (t) => {
  const sides = [undefined, 7, 33, 150];
  const wanted = ['cover', 'contain', 'fill', 'inside', 'outside'].flatMap((fit) =>
    [true, false].flatMap((withoutEnlargement) =>
      sides.flatMap((width) => sides.map((height) => ({ fit, withoutEnlargement, width, height }))),
    ),
  );
  const bytes = await plain(61, 37, '#123456').png().toBuffer();
  for (const { width, height, fit, withoutEnlargement } of wanted) {
    if (width === undefined && height === undefined) continue;
    const size = { ...(width && { width }), ...(height && { height }), withoutEnlargement };
    const { info } = await sharp(bytes)
      .resize({ ...size, fit: fit as 'cover' })
      .toBuffer({ resolveWithObject: true });
    const expected = { width: info.width, height: info.height };
    t.same(resizedSize({ width: 61, height: 37 }, { ...size, fit }), expected, JSON.stringify({ ...size, fit }));
  }
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(resizeNode.options, options);
  t.ok(valid({ width: 1, height: 16_383, fit: 'cover', position: 'left top', background: '#fff8' }));
  for (const options of [
    { width: 0 },
    { width: 16_384 },
    { width: 1.5 },
    { fit: 'squeeze' },
    { position: 'middle' },
    { kernel: 'magic' },
    { background: 'white' },
    { widht: 1 },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
  t.equal(resizeNode.check?.({ fit: 'cover' }), 'width or height must be given');
  t.equal(resizeNode.check?.({ height: 1 }), undefined);
});

t.test('it delivers the images among what comes in', async (t) => {
  t.same(resizeNode.produces({}, ['image/png', 'text/plain', '*/*']), ['image/png', 'image/*']);
});

t.test('pictures of every sort are scaled as Pillow scales them', withPillow, async (t) => {
  for (const [name, file] of Object.entries(await pictureSorts())) {
    const { bytes } = await only(runKind(t, resizeNode, { width: 160 }, [file]));
    await looksLike(t, bytes, file.bytes, [{ do: 'resize', width: 160, height: 120 }], name);
  }
});

t.test('contain pads a grey picture with the colour asked for', async (t) => {
  const grey = sharp({ create: { width: 40, height: 20, channels: 3, background: '#808080' } }).toColourspace('b-w');
  const file = await png(grey);
  const padded = async (background: string, intermediate: boolean) => {
    const options = { width: 40, height: 40, fit: 'contain', background } as const;
    const { output, bytes } = await only(runKind(t, resizeNode, options, [file], { intermediate }));
    const whole = intermediate ? (await only(runKind(t, cropNode, { width: 40, height: 40 }, [output]))).bytes : bytes;
    const pixels = await sharp(whole).removeAlpha().raw().toBuffer();
    return [0, 40 * 20].map((at) => [...pixels.subarray(3 * at, 3 * at + 3)]);
  };
  const middle = [128, 128, 128];
  for (const intermediate of [false, true]) {
    t.same(await padded('#ff0000', intermediate), [[255, 0, 0], middle]);
    t.same(await padded('#20F', intermediate), [[34, 0, 255], middle]);
  }
  t.same(await padded('#404040', false), [[64, 64, 64], middle]);
});
