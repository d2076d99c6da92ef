import sharp from 'sharp';
import t, { type Test } from 'tap';
import { watermarkNode } from '../../../src/nodes/index.ts';
import { inkBox, type Pixels, pixelsOf, plainPng } from '../../support/pixels.ts';
import { blue, isRed, near, type Options, overlay, red, run } from './run.ts';

/** Where a red overlay of 4 by 2 lies on 20 by 10 of blue. */
const place = async (t: Test, options: Options) =>
  inkBox((await run(t, options, [await plainPng(20, 10, '#0000ff'), await overlay(4, 2)])).pixels, isRed);

t.test('gravity puts the overlay to a side or a corner', async (t) => {
  const boxes = {
    northwest: [0, 0, 3, 1],
    north: [8, 0, 11, 1],
    northeast: [16, 0, 19, 1],
    west: [0, 4, 3, 5],
    centre: [8, 4, 11, 5],
    east: [16, 4, 19, 5],
    southwest: [0, 8, 3, 9],
    south: [8, 8, 11, 9],
    southeast: [16, 8, 19, 9],
  };
  for (const [gravity, box] of Object.entries(boxes)) {
    t.same(await place(t, { gravity: gravity as 'north' }), box, gravity);
  }
  t.same(await place(t, {}), boxes.southeast, 'southeast is the default');
});

t.test('left and top are pixels or percent, and never lead out of the picture', async (t) => {
  t.same(await place(t, { left: 3, top: 5 }), [3, 5, 6, 6]);
  t.same(await place(t, { left: '50%', top: '25%' }), [10, 3, 13, 4]);
  t.same(await place(t, { left: 3 }), [3, 0, 6, 1]);
  t.same(await place(t, { top: 5 }), [0, 5, 3, 6]);
  t.same(await place(t, { left: '100%', top: 999 }), [16, 8, 19, 9]);
});

t.test('scale is a share of the width, and what is too large is made smaller', async (t) => {
  t.same(await place(t, { scale: 0.5, gravity: 'northwest' }), [0, 0, 9, 4]);
  t.same(await place(t, { scale: 1, gravity: 'northwest' }), [0, 0, 19, 9]);
  t.same(await place(t, { scale: 0.001, gravity: 'northwest' }), [0, 0, 0, 0], 'a pixel at least');
  const high = [await plainPng(20, 10, '#0000ff'), await overlay(30, 300)];
  t.same(inkBox((await run(t, { scale: 1, gravity: 'northwest' }, high)).pixels, isRed), [0, 0, 0, 9]);
});

t.test('opacity lets the picture shine through', async (t) => {
  const files = [await plainPng(20, 10, '#0000ff'), await overlay(4, 2)];
  const corner = async (opacity: number) => (await run(t, { opacity }, files)).pixels.at(19, 9);
  t.same(await corner(1), red);
  t.same(await corner(0), blue);
  t.ok(near(await corner(0.5), [128, 0, 127, 255]));
  const half = [await plainPng(20, 10, '#0000ff'), await overlay(4, 2, '#ff000080')];
  const { pixels } = await run(t, { opacity: 0.5 }, half);
  t.ok(near(pixels.at(19, 9), [64, 0, 191, 255]), 'with its own transparency');
});

t.test('tile repeats it over the whole picture', async (t) => {
  const striped = await sharp({ create: { width: 4, height: 2, channels: 4, background: '#00000000' } })
    .composite([{ input: (await plainPng(2, 1, '#ff0000')).bytes, left: 0, top: 0 }])
    .png()
    .toBuffer();
  const mark = { bytes: striped, mimeType: 'image/png', handle: 'overlay' };
  const files = [await plainPng(20, 10, '#0000ff'), mark];
  const { pixels } = await run(t, { tile: true, gravity: 'northwest' }, files);
  for (const [x, y] of [
    [0, 0],
    [4, 0],
    [16, 8],
    [8, 4],
  ] as const) {
    t.same([pixels.at(x, y), pixels.at(x + 2, y), pixels.at(x, y + 1)], [red, blue, blue], `${x} ${y}`);
  }
  t.same((await run(t, { gravity: 'northwest' }, files)).pixels.at(4, 0), blue, 'once by default');
});

t.test('blend decides how they mix', async (t) => {
  const files = [await plainPng(20, 10, '#808080'), await overlay(4, 2, '#ff8000')];
  const corner = async (blend: 'over' | 'multiply' | 'screen' | 'difference') =>
    (await run(t, { blend }, files)).pixels.at(19, 9);
  t.same(await corner('over'), [255, 128, 0, 255]);
  t.ok(near(await corner('multiply'), [128, 64, 0, 255]));
  t.ok(near(await corner('screen'), [255, 192, 128, 255]));
  t.ok(near(await corner('difference'), [127, 0, 128, 255]));
  t.same((await run(t, { blend: 'multiply' }, files)).pixels.at(0, 0), [128, 128, 128, 255], 'and nowhere else');
});

t.test('every blend leaves the picture where the overlay is not', async (t) => {
  const files = [await plainPng(20, 10, '#204080'), await overlay(4, 2, '#ff8000')];
  for (const blend of watermarkNode.options.properties.blend.enum) {
    t.same((await run(t, { blend }, files)).pixels.at(0, 0), [32, 64, 128, 255], blend);
  }
});

t.test('an animation has it in every frame', async (t) => {
  const frames = await Promise.all(['#000000', '#303030', '#505050'].map((colour) => plainPng(200, 100, colour)));
  const webp = sharp(
    frames.map((frame) => frame.bytes),
    { join: { animated: true } },
  ).webp({ lossless: true, delay: [100, 200, 300] });
  const main = { bytes: await webp.toBuffer(), mimeType: 'image/webp' };
  const marked = async (options: Options) => {
    const { bytes, output } = await run(t, options, [main, await overlay(40, 20, '#ff0000c0')]);
    t.match(await sharp(bytes).metadata(), { pages: 3, delay: [100, 200, 300], width: 200, height: 100 });
    t.match(output.meta, { pages: 3, width: 200, height: 100 });
    return pixelsOf(bytes, true);
  };
  /** Which of some places in a frame are red: WebP blurs the edges. */
  const redPlaces = ({ at }: Pixels, frame: number, places: readonly (readonly [number, number])[]) =>
    places.filter(([x, y]) => isRed(at(x, y + 100 * frame)));
  const corner = await marked({});
  const placed = await marked({ left: 10, top: '30%' });
  const tiled = await marked({ tile: true });
  const places = [
    [180, 90],
    [30, 40],
    [100, 10],
    [30, 90],
    [180, 40],
  ] as const;
  for (const frame of [0, 1, 2]) {
    t.same(redPlaces(corner, frame, places), [[180, 90]]);
    t.same(redPlaces(placed, frame, places), [[30, 40]]);
    t.same(redPlaces(tiled, frame, places), places);
  }
});

t.test('an overlay that moves is shown by its first frame', async (t) => {
  const frames = await Promise.all(['#ff0000', '#00ff00'].map((colour) => plainPng(4, 2, colour)));
  const gif = sharp(
    frames.map((frame) => frame.bytes),
    { join: { animated: true } },
  ).gif();
  const mark = { bytes: await gif.toBuffer(), mimeType: 'image/gif', handle: 'overlay' };
  const { pixels } = await run(t, {}, [await plainPng(20, 10, '#0000ff'), mark]);
  t.same(inkBox(pixels, isRed), [16, 8, 19, 9]);
});
