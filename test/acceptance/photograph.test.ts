import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { startDeployment, storageType } from '../support/deployment.ts';
import { openEvents } from '../support/event-socket.ts';
import { makePhoto } from '../support/photo.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Files below a directory, without the empty folders. */
const filesBelow = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

/** The colour in the middle of a corner patch, as red, green, blue. */
const corner = async (image: Buffer, left: 0 | 1, top: 0 | 1): Promise<number[]> => {
  const { width, height } = await sharp(image).metadata();
  const near = (size: number, end: 0 | 1) => Math.round(size * (end === 0 ? 0.03 : 0.97));
  const area = { left: near(width, left), top: near(height, top), width: 1, height: 1 };
  return [...(await sharp(image).extract(area).removeAlpha().raw().toBuffer())];
};

t.test('a photograph goes through "two sizes" to WebP', async (t) => {
  const directory = await temporaryDirectory(t);
  const service = await startDeployment({ DATA_DIR: directory });
  t.teardown(() => service.stop());
  const { url } = service;
  const photo = await makePhoto({ width: 3000, height: 4000, orientation: 6, gps: true });
  const before = await sharp(photo).metadata();
  t.match(before, { width: 4000, height: 3000, orientation: 6 }, 'it lies on its side, as phones store it');
  t.ok((before.exif?.length ?? 0) > 100, 'it carries EXIF');

  const file = { name: 'IMG_0001.jpg', type: 'image/jpeg', size: photo.length };
  const { jobId, uploadId } = await startFlow(url, 'two-sizes', 'photo', file);
  const socket = openEvents(url, `/ws/flow/${jobId}`);
  await socket.until('flow_paused');
  const half = Math.floor(photo.length / 2);
  t.equal((await patch(url, uploadId, photo.subarray(0, half))).body.offset, half);
  t.equal((await patch(url, uploadId, photo.subarray(half), half)).body.status, 'completed');
  const job = await ended(url, jobId);

  await t.test('the outputs have the right size, stand upright and tell nothing of the place', async (t) => {
    t.strictSame(Object.keys(job.outputs), ['small-web', 'large-web']);
    for (const [key, width] of [
      ['small-web', 400],
      ['large-web', 1600],
    ] as const) {
      const output = job.outputs[key];
      const image = await download(url, output.url);
      const metadata = await sharp(image).metadata();
      t.match(metadata, { format: 'webp', width, height: Math.round((width * 4) / 3) }, key);
      t.strictSame([metadata.exif, metadata.xmp, metadata.orientation], [undefined, undefined, undefined]);
      t.equal(image.includes('GPS') || image.includes('EXIF'), false, 'no EXIF block in the bytes');
      t.strictSame([output.size, output.mimeType, output.fileName], [image.length, 'image/webp', 'IMG_0001.webp']);
      const [r = 0, g = 0, b = 0] = await corner(image, 0, 0);
      t.ok(r > 180 && g < 90 && b < 90, `the red corner is at the top left (${r}, ${g}, ${b})`);
      const [r2 = 0, g2 = 0, b2 = 0] = await corner(image, 1, 1);
      t.ok(b2 > 180 && r2 < 90 && g2 < 90, `the blue corner is at the bottom right (${r2}, ${g2}, ${b2})`);
    }
  });

  await t.test('nothing else is left on the disk', async (t) => {
    const files = storageType === 'local' ? await filesBelow(join(directory, 'files')) : [];
    t.equal(files.length, storageType === 'local' ? 2 : 0, files.join(', '));
    t.ok(files.every((name) => name.endsWith('.webp')));
    // Containers have their scratch elsewhere.
    if (existsSync(join(directory, 'scratch'))) t.strictSame(await filesBelow(join(directory, 'scratch')), []);
  });

  await t.test('the socket told it in order', async (t) => {
    t.equal((await socket.closed).code, 1000);
    const [snapshot, ...frames] = socket.frames;
    t.match(snapshot, { type: 'flow_snapshot', jobId, status: 'paused' });
    const numbers = frames.map((frame) => frame.seq);
    t.strictSame(
      numbers,
      [...numbers.keys()].map((index) => index + 1),
      'numbered from 1 without a gap',
    );
    const told = frames.map((frame) => [frame.type, frame['nodeId']].filter(Boolean).join(' '));
    const begin = ['flow_started', 'flow_paused', 'flow_resumed', 'node_started photo', 'node_completed photo'];
    t.strictSame(told.slice(0, 5), begin);
    t.equal(told.at(-1), 'flow_complete');
    for (const size of ['small', 'large']) {
      const own = told.filter((one) => one.endsWith(` ${size}`) || one.endsWith(` ${size}-web`));
      t.strictSame(own, [
        `node_started ${size}`,
        `node_completed ${size}`,
        `node_started ${size}-web`,
        `node_completed ${size}-web`,
      ]);
    }
    t.equal(told.length, 14);
    t.strictSame(frames.at(-1)?.['outputs'], job.outputs);
    t.match(frames[3], { nodeType: 'file-input' });
  });

  await t.test('a late reader gets the whole story, or what it has missed', async (t) => {
    const late = openEvents(url, `/ws/flow/${jobId}?since=12`);
    t.equal((await late.closed).code, 1000);
    t.strictSame(
      late.frames.map(({ type, seq }) => `${type} ${seq}`),
      ['flow_snapshot 14', 'node_completed 13', 'flow_complete 14'],
    );
  });

  await t.test('the explicit finalize of clients that send one changes nothing', async (t) => {
    const newData = { operation: 'finalize', uploadId };
    const { status, body } = await call(url, 'PATCH', `/api/jobs/${jobId}/resume/photo`, { newData });
    t.strictSame([status, body.status], [200, 'completed']);
  });
});
