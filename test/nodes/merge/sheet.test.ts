import { mkdir, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { mergeNode } from '../../../src/nodes/index.ts';
import { type Incoming, limits, only, runKind } from '../../support/run-kind.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

type Options = Parameters<NonNullable<typeof mergeNode.pass>>[0];

const red = [255, 0, 0, 255];
const green = [0, 255, 0, 255];
const blue = [0, 0, 255, 255];
const clear = [0, 0, 0, 0];

/** A picture of one colour. */
const picture = async (width: number, height: number, background: string) => ({
  bytes: await sharp({ create: { width, height, channels: background.length > 7 ? 4 : 3, background } })
    .png()
    .toBuffer(),
  mimeType: 'image/png',
});

const three = () => Promise.all([picture(4, 2, '#ff0000'), picture(4, 2, '#00ff00'), picture(4, 2, '#0000ff')]);

const sheet = async (t: Test, options: Options, files: readonly Incoming[], change = {}) => {
  const { output, bytes } = await only(runKind(t, mergeNode, { strategy: 'images', ...options }, files, change));
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x + 1) * 4)];
  return { output, bytes, at, size: [info.width, info.height] };
};

t.test('images stand in a row', async (t) => {
  const { output, at, size } = await sheet(t, {}, await three());
  t.same(size, [12, 2]);
  t.same([at(0, 0), at(3, 1), at(4, 0), at(7, 1), at(8, 0), at(11, 1)], [red, red, green, green, blue, blue]);
  t.match(output, {
    fileName: 'merged.png',
    mimeType: 'image/png',
    meta: { width: 12, height: 2, format: 'png', hasAlpha: true, pages: 1 },
  });
  const opaque = await sheet(t, { background: '#00f' }, await three());
  t.equal(opaque.output.meta['hasAlpha'], false, 'nothing can be seen through');
});

t.test('direction and across decide where', async (t) => {
  const column = await sheet(t, { direction: 'vertical' }, await three());
  t.same(column.size, [4, 6]);
  t.same([column.at(0, 0), column.at(0, 2), column.at(3, 5)], [red, green, blue]);
  t.same((await sheet(t, { direction: 'horizontal' }, await three())).size, [12, 2]);
  const grid = await sheet(t, { across: 2 }, await three());
  t.same(grid.size, [8, 4]);
  t.same([grid.at(0, 0), grid.at(4, 1), grid.at(3, 3), grid.at(4, 2)], [red, green, blue, clear]);
  t.same((await sheet(t, { across: 5 }, await three())).size, [12, 2], 'no empty columns');
});

t.test('files come in the order of their edges, whatever is made of them', async (t) => {
  const [first, second, third] = await three();
  const files = [
    { ...third, edge: 2 },
    { ...first, edge: 0 },
    { ...second, edge: 1 },
  ];
  const { at } = await sheet(t, {}, files);
  t.same([at(0, 0), at(4, 0), at(8, 0)], [red, green, blue]);
  const texts = files.map(({ edge }) => ({ bytes: Buffer.from(String(edge)), mimeType: 'text/plain', edge }));
  t.equal(String((await only(runKind(t, mergeNode, { strategy: 'concat' }, texts))).bytes), '012');
});

t.test('shim is the room between cells, filled with the background', async (t) => {
  const { at, size } = await sheet(t, { shim: 3, background: '#0000ff80' }, (await three()).slice(0, 2));
  t.same(size, [11, 2]);
  t.same([at(3, 0), at(4, 0), at(6, 1), at(7, 0)], [red, [0, 0, 255, 128], [0, 0, 255, 128], green]);
  const without = await sheet(t, { shim: 1 }, (await three()).slice(0, 2));
  t.same(without.at(4, 0), clear, 'transparent by default');
  t.same((await sheet(t, { shim: 1, across: 1 }, await three())).size, [4, 8]);
});

t.test('a cell is as large as the largest picture, or as it is told', async (t) => {
  const mixed = [await picture(4, 2, '#ff0000'), await picture(2, 6, '#00ff00')];
  t.same((await sheet(t, {}, mixed)).size, [8, 6]);
  const scaled = await sheet(t, { height: 2 }, mixed);
  t.same(scaled.size, [8, 2], 'the higher one is scaled down');
  t.same(scaled.at(0, 0), red);
  t.same((await sheet(t, { width: 2 }, mixed)).size, [4, 6]);
  const boxed = await sheet(t, { width: 10, height: 10 }, mixed);
  t.same(boxed.size, [20, 10]);
  t.same(
    [boxed.at(3, 4), boxed.at(2, 4), boxed.at(6, 5), boxed.at(7, 5)],
    [red, clear, red, clear],
    'none is enlarged',
  );
});

t.test('halign and valign place a picture in its cell', async (t) => {
  const one = [await picture(2, 2, '#ff0000')];
  const place = async (options: Options) => {
    const { at } = await sheet(t, { width: 6, height: 6, ...options }, one);
    return [0, 2, 4].flatMap((y) => [0, 2, 4].map((x) => (at(x, y)[3] === 255 && at(x + 1, y + 1)[3] === 255 ? 1 : 0)));
  };
  t.same(await place({}), [0, 0, 0, 0, 1, 0, 0, 0, 0]);
  t.same(await place({ halign: 'left' }), [0, 0, 0, 1, 0, 0, 0, 0, 0]);
  t.same(await place({ halign: 'right' }), [0, 0, 0, 0, 0, 1, 0, 0, 0]);
  t.same(await place({ valign: 'top' }), [0, 1, 0, 0, 0, 0, 0, 0, 0]);
  t.same(await place({ valign: 'bottom' }), [0, 0, 0, 0, 0, 0, 0, 1, 0]);
  t.same(await place({ halign: 'right', valign: 'bottom' }), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
  t.same(await place({ halign: 'left', valign: 'top' }), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
});

t.test('pictures of any kind go together', async (t) => {
  const create = { width: 4, height: 2, channels: 3, background: '#808080' } as const;
  const grey = { bytes: await sharp({ create }).greyscale().png().toBuffer(), mimeType: 'image/png' };
  const deep = { bytes: await sharp({ create }).toColourspace('rgb16').png().toBuffer(), mimeType: 'image/png' };
  const jpeg = {
    bytes: await sharp({ create }).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    mimeType: 'image/jpeg',
  };
  const half = await picture(4, 2, '#ff000080');
  const { at, size, output } = await sheet(t, {}, [grey, deep, jpeg, half]);
  t.same(size, [16, 4], 'the upright JPEG is the highest');
  t.same(
    [at(0, 1), at(4, 1), at(9, 3), at(12, 1)],
    [
      [128, 128, 128, 255],
      [128, 128, 128, 255],
      [128, 128, 128, 255],
      [255, 0, 0, 128],
    ],
  );
  t.equal(output.meta['hasAlpha'], true);
});

t.test('format and quality are those of the sheet', async (t) => {
  for (const format of ['jpeg', 'webp', 'png'] as const) {
    const { output, bytes } = await sheet(t, { format, shim: 8 }, await three());
    const extension = format === 'jpeg' ? 'jpg' : format;
    t.match(output, { mimeType: `image/${format}`, fileName: `merged.${extension}`, meta: { format } });
    t.equal((await sharp(bytes).metadata()).format, format);
  }
  const jpeg = await sheet(t, { format: 'jpeg', shim: 16 }, await three());
  t.ok(
    jpeg.at(12, 1).every((value) => value > 250),
    'JPEG is white where nothing is',
  );
  const noise = await sharp(Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * index * 31) % 251)), {
    raw: { width: 50, height: 20, channels: 3 },
  })
    .png()
    .toBuffer();
  const busy = [{ bytes: noise, mimeType: 'image/png' }];
  const size = async (quality?: number) =>
    (await sheet(t, { format: 'webp', ...(quality && { quality }) }, busy)).bytes.length;
  t.ok((await size(10)) < (await size(80)));
  t.equal(await size(), await size(80));
});

t.test('an animation is shown by its first frame', async (t) => {
  const frames = await Promise.all([picture(4, 4, '#ff0000'), picture(4, 4, '#00ff00')]);
  const bytes = await sharp(
    frames.map((frame) => frame.bytes),
    { join: { animated: true } },
  )
    .gif()
    .toBuffer();
  const { at, size } = await sheet(t, {}, [{ bytes, mimeType: 'image/gif' }, await picture(4, 4, '#0000ff')]);
  t.same(size, [8, 4]);
  t.same([at(0, 0), at(4, 0)], [red, blue]);
});

t.test('the sheet has limits', async (t) => {
  await t.rejects(sheet(t, {}, await three(), { limits: { ...limits, maxSide: 11 } }), {
    code: 'FILE_TOO_LARGE',
    details: { limit: 'side', max: 11, actual: 12 },
  });
  await t.rejects(sheet(t, { width: 100, height: 9 }, await three(), { limits: { ...limits, maxPixels: 2699 } }), {
    code: 'FILE_TOO_LARGE',
    message: /the merged picture has 2700 pixels/,
    details: { limit: 'pixels', max: 2699, actual: 2700 },
  });
  await t.resolves(sheet(t, { width: 100, height: 9 }, await three(), { limits: { ...limits, maxPixels: 2700 } }));
});

t.test('an encoder that fails tells a code of the table', async (t) => {
  const whole = mergeNode.run;
  const picture = (await three())[0];
  const directory = await temporaryDirectory(t);
  const path = `${directory}/in.png`;
  await writeFile(path, picture?.bytes ?? '');
  const file = { path, mimeType: 'image/png', fileName: 'a.png' };
  // The sheet cannot be written where a folder stands in its way.
  await mkdir(`${directory}/0.png`);
  const run = { options: { strategy: 'images' as const }, files: [file], directory, intermediate: false, limits };
  await t.rejects(async () => void (await whole?.({ ...run, params: {}, progress: () => {} })), {
    code: 'STORAGE_ERROR',
  });
});

t.test('what is no image is refused by images', async (t) => {
  const text = { bytes: Buffer.from('Dear reader'), mimeType: 'text/plain', fileName: 'a.txt' };
  await t.rejects(runKind(t, mergeNode, { strategy: 'images' }, [text]), { code: 'UNSUPPORTED_FORMAT' });
});

t.test('progress goes forward only', async (t) => {
  const shares: number[] = [];
  await sheet(t, {}, (await three()).slice(1), { progress: (share: number) => void shares.push(share) });
  t.strictSame(shares, [0.5, 1]);
});
