import sharp from 'sharp';
import t from 'tap';
import { gaussian, isQuick, soften } from '../../../src/nodes/image/soften.ts';

const [width, height] = [2000, 16];

/** The part of a bell curve that lies left of `x` widths from its middle (Abramowitz and Stegun 7.1.26). */
const left = (x: number): number => {
  const at = 1 / (1 + (0.3275911 * Math.abs(x)) / Math.SQRT2);
  const terms = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const tail = terms.reduce((sum, term) => sum * at + term, 0) * at * Math.exp((-x * x) / 2);
  return x < 0 ? tail / 2 : 1 - tail / 2;
};

t.test('an edge between black and white becomes the bell curve summed up, however wide', async (t) => {
  const half = { create: { width: width / 2, height, channels: 3 as const, background: '#ffffff' } };
  const edge = await sharp({ create: { width, height, channels: 3, background: '#000000' } })
    .composite([{ input: half, left: width / 2, top: 0 }])
    .removeAlpha()
    .png()
    .toBuffer();
  for (const sigma of [0.5, 1, 1.9, 2, 3, 4, 4.1, 5, 8, 40, 150]) {
    const blurred = await soften(sharp(edge), { width, height }, sigma);
    const row = await blurred.extractChannel(0).raw().toBuffer();
    let total = 0;
    for (let x = 0; x < width; x += 1) total += Math.abs((row[x] ?? 0) - 255 * left((x + 0.5 - width / 2) / sigma));
    t.ok(total / width < 1, `${sigma}: ${total / width}`);
  }
});

t.test('white stays white', async (t) => {
  const white = sharp({ create: { width: 90, height: 90, channels: 3, background: '#ffffff' } });
  for (const sigma of [0.3, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 20, 300]) {
    const blurred = await soften(white.clone(), { width: 90, height: 90 }, sigma);
    t.equal(Math.min(...(await blurred.raw().toBuffer())), 255, `${sigma}`);
  }
});

t.test('the options of a blur that is one step are those of the way around', async (t) => {
  const picture = sharp({ create: { width: 9, height: 9, channels: 3, background: '#000000' } });
  const dot = await picture
    .composite([{ input: { create: { width: 1, height: 1, channels: 3, background: '#ffffff' } } }])
    .png()
    .toBuffer();
  const step = await sharp(dot).blur(gaussian(1.5)).raw().toBuffer();
  t.same(await (await soften(sharp(dot), { width: 9, height: 9 }, 1.5)).raw().toBuffer(), step);
});

t.test('a wide blur of a large picture takes no longer than a narrow one', async (t) => {
  const raw = { width: 2000, height: 1500, channels: 3 } as const;
  const large = Buffer.alloc(raw.width * raw.height * raw.channels, 100);
  const cpu = async (sigma: number) => {
    const before = process.cpuUsage();
    await (await soften(sharp(large, { raw }), raw, sigma)).raw().toBuffer();
    return process.cpuUsage(before).user;
  };
  await cpu(4);
  const [narrow, wide] = [await cpu(4), await cpu(1000)];
  // Without the way around, 1000 takes minutes.
  t.ok(wide < narrow * 20, `${wide} beside ${narrow}`);
  t.ok(isQuick(4) && !isQuick(4.1));
});
