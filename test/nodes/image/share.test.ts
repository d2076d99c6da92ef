import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { shareDecoding } from '../../../src/nodes/image/share.ts';
import { resizeNode } from '../../../src/nodes/resize.ts';
import type { WorkerFile } from '../../../src/ports/worker-pool.ts';
import { makePhoto } from '../../support/photo.ts';
import { limits, only, runKind } from '../../support/run-kind.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

type Options = Parameters<NonNullable<typeof resizeNode.shrink>>[0];

const fileOf = async (t: Test, bytes: Buffer, mimeType = 'image/jpeg'): Promise<WorkerFile> => {
  const path = join(await temporaryDirectory(t), 'upload');
  await writeFile(path, bytes);
  return { path, mimeType, fileName: 'photo.jpg' };
};

const share = async (t: Test, file: WorkerFile, all: readonly Options[]) => {
  const needs = all.map(
    (options) => (size: { width: number; height: number }) => resizeNode.shrink?.(options, size) ?? size,
  );
  return shareDecoding(file, needs, await temporaryDirectory(t), limits);
};

/** Mean difference of two pictures of one size, of 255. */
const difference = async (left: Buffer, right: Buffer): Promise<number> => {
  const [a, b] = await Promise.all([left, right].map((bytes) => sharp(bytes).flatten().raw().toBuffer()));
  if (a === undefined || a.length !== b?.length) throw new Error('not of one size');
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
};

t.test('what comes of a shared picture is what comes of the whole one', async (t) => {
  const bytes = await makePhoto({ width: 2999, height: 2001, orientation: 6 });
  const file = await fileOf(t, bytes);
  const cases: readonly Options[] = [
    { width: 1300 },
    { height: 777 },
    { width: 900, height: 400 },
    { width: 600, height: 601, fit: 'fill' },
    { width: 700, height: 500, fit: 'cover' },
    { width: 501, height: 700, fit: 'contain', background: '#f00' },
    { width: 650, height: 650, fit: 'outside' },
  ];
  const shared = await share(t, file, cases);
  t.match(shared, { whole: { width: 2999, height: 2001 } });
  t.match(await sharp(shared.path).metadata(), { format: 'vips', width: 1300, height: 868 });
  for (const options of cases) {
    const alone = await only(runKind(t, resizeNode, options, [{ ...file, meta: {} }]));
    const together = await only(runKind(t, resizeNode, options, [{ ...shared, meta: {} }]));
    t.same(together.output.meta, alone.output.meta, JSON.stringify(options));
    t.ok((await difference(alone.bytes, together.bytes)) < 2, JSON.stringify(options));
  }
});

t.test('a picture of a type that kinds do not know keeps its format', async (t) => {
  const photo = await makePhoto({ width: 300, height: 200, type: 'image/png' });
  const shared = await share(t, await fileOf(t, photo, 'image/apng'), [{ width: 100 }]);
  t.match(shared, { mimeType: 'image/png', whole: { width: 300 } });
  const { output } = await only(runKind(t, resizeNode, { width: 100 }, [{ ...shared, meta: {} }]));
  t.match(output, { mimeType: 'image/png', meta: { width: 100 } });
});

t.test('a picture is not shared when one node needs all of it, when it moves, and when it is none', async (t) => {
  const photo = await fileOf(t, await makePhoto({ width: 300, height: 200 }));
  t.equal(await share(t, photo, [{ width: 100 }, { width: 300 }]), photo);
  t.equal(await share(t, photo, [{ width: 100 }, { width: 900, withoutEnlargement: false }]), photo);
  const frames = Array.from({ length: 2 }, (_, index) => ({
    create: { width: 40, height: 40, channels: 3 as const, background: { r: index * 200, g: 0, b: 0 } },
  }));
  const moving = await fileOf(
    t,
    await sharp(frames as never, { join: { animated: true } } as never)
      .gif()
      .toBuffer(),
    'image/gif',
  );
  t.equal(await share(t, moving, [{ width: 10 }]), moving);
  const text = await fileOf(t, Buffer.from('no picture'));
  t.equal(await share(t, text, [{ width: 10 }]), text);
  const cut = await fileOf(t, (await makePhoto({ width: 3000, height: 2000 })).subarray(0, 100_000));
  t.equal(await share(t, cut, [{ width: 10 }]), cut, 'the nodes tell that it is damaged');
});
