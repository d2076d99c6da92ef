import t from 'tap';
import { inkBox, plainPng } from '../../support/pixels.ts';
import { near, type Options, red, run } from './run.ts';

t.test('a text is an overlay', async (t) => {
  const files = [await plainPng(200, 100, '#0000ff')];
  const white = ([redness = 0]: readonly number[]) => redness > 60;
  const [left = 0, top = 0, right = 0, bottom = 0] = inkBox((await run(t, { text: 'Hello' }, files)).pixels, white);
  t.ok(Math.abs(right - left + 1 - 40) <= 3, `a fifth of the width: ${right - left + 1}`);
  t.ok(left > 140 && right < 197 && top > 75 && bottom < 97, `near the corner, not at it: ${left} ${bottom}`);
  const { pixels } = await run(t, { text: 'HE', scale: 0.5, left: 0, top: 0 }, files);
  const [x = 9, y = 9] = inkBox(pixels, white);
  t.ok(x <= 1 && y <= 1, 'exactly where it is put');
  const { pixels: big } = await run(t, { text: 'Hello', scale: 0.5, gravity: 'centre' }, files);
  const [from = 0, , to = 0] = inkBox(big, white);
  t.ok(Math.abs(to - from + 1 - 100) <= 3 && Math.abs(from + to - 199) <= 3, `${from} ${to}`);
});

t.test('the size of letters is pixels or a share of the height', async (t) => {
  const files = [await plainPng(400, 200, '#0000ff')];
  const height = async (fontSize: number | string) => {
    const { pixels } = await run(t, { text: 'H', fontSize, gravity: 'centre' }, files);
    const [, top = 0, , bottom = 0] = inkBox(pixels, ([redness = 0]) => redness > 127);
    return bottom - top + 1;
  };
  // A capital letter of DejaVu Sans has 0.729 of the size.
  t.ok(Math.abs((await height(100)) - 73) <= 1);
  t.ok(Math.abs((await height('25%')) - 36) <= 1);
  t.ok((await height(2000)) < 200, 'what is too large is made smaller');
});

t.test('color is that of the text, with its transparency', async (t) => {
  const files = [await plainPng(40, 40, '#0000ff')];
  const ink = async (options: Options) =>
    (await run(t, { text: '█', scale: 1, left: 0, top: 0, ...options }, files)).pixels.at(10, 10);
  t.same(await ink({}), [255, 255, 255, 255], 'white by default');
  t.same(await ink({ color: '#f00' }), red);
  t.same(await ink({ color: '#ff0000' }), red);
  t.ok(near(await ink({ color: '#ff000080' }), [128, 0, 127, 255]));
  t.ok(near(await ink({ color: '#f008' }), [136, 0, 119, 255]));
  t.ok(near(await ink({ color: '#f00', opacity: 0.5 }), [128, 0, 127, 255]));
});

t.test('a text is never markup', async (t) => {
  const files = [await plainPng(300, 60, '#0000ff')];
  const drawn = async (text: string) => (await run(t, { text, fontSize: 20, left: 0, top: 0 }, files)).bytes;
  t.notSame(await drawn('<b>x</b>'), await drawn('x'));
  t.notSame(await drawn('&lt;'), await drawn('<'));
  await t.resolves(drawn('</span> & <span foreground="red">'));
});

t.test('a picture of one pixel takes a text too', async (t) => {
  const { output } = await run(t, { text: 'Hello\nworld' }, [await plainPng(1, 1, '#0000ff')]);
  t.match(output.meta, { width: 1, height: 1 });
  await t.resolves(run(t, { text: 'W'.repeat(500), scale: 1 }, [await plainPng(50, 3, '#0000ff')]));
  await t.resolves(run(t, { text: 'i', scale: 1, tile: true }, [await plainPng(3, 500, '#0000ff')]));
});

t.test('what a template may have made of a text is looked at', async (t) => {
  const files = [await plainPng(10, 10, '#0000ff')];
  for (const text of ['', 'x'.repeat(501), 'a\u0000b', '漢']) {
    await t.rejects(run(t, { text }, files), { code: 'INVALID_PARAMS', details: { option: 'text' } });
  }
});
