import t from 'tap';
import { pixelArea, withinPicture } from '../../../src/nodes/image/area.ts';

t.test('parts that meet in percent meet in pixels', async (t) => {
  for (const side of [1, 2, 3, 5, 7, 10, 99, 101]) {
    const picture = { width: side, height: side };
    for (const [first, second] of [
      ['50%', '50%'],
      ['33.3%', '66.7%'],
      ['10%', '90%'],
    ] as const) {
      const left = pixelArea({ left: '0%', top: 0, width: first, height: 1 }, picture);
      const right = pixelArea({ left: first, top: 0, width: second, height: 1 }, picture);
      t.equal(right.left + right.width, Math.max(side, right.left + 1), `${first} and ${second} of ${side}`);
      t.ok(left.width >= 1);
      if (left.width > 1) t.equal(left.left + left.width, right.left);
    }
  }
});

t.test('what is outside is left away', async (t) => {
  const picture = { width: 10, height: 20 };
  const within = (left: number, top: number, width: number, height: number) =>
    withinPicture({ left, top, width, height }, picture);
  t.same(within(0, 0, 10, 20), { left: 0, top: 0, width: 10, height: 20 });
  t.same(within(4, 5, 100, 3), { left: 4, top: 5, width: 6, height: 3 });
  t.same(within(4, 5, 3, 100), { left: 4, top: 5, width: 3, height: 15 });
  t.equal(within(10, 0, 1, 1), undefined);
  t.equal(within(0, 20, 1, 1), undefined);
});
