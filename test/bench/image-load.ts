/**
 * Keeps every worker child of a service at work: `node image-load.ts <url> <pixels>` makes photographs, the widest of so
 * many pixels, says `made`, and puts them through the flow "two sizes" until it is ended. A program of its own, so that
 * it takes nothing of the time of the client that measures.
 */
import { availableParallelism, constants, setPriority } from 'node:os';
import { ended, patch, startFlow } from '../support/api.ts';
import { makePhoto } from '../support/photo.ts';

const [url = '', pixels = '6000'] = process.argv.slice(2);

// As the worker children: what sends the photographs is no part of what is measured.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const makePhotos = () =>
  Promise.all(
    [1, 0.8, 0.6].map((part) => {
      const width = Math.round(Number(pixels) * part);
      return makePhoto({ width, height: Math.round(width * 0.75), gps: true });
    }),
  );

const runFlow = async (photo: Buffer): Promise<void> => {
  const file = { name: 'photo.jpg', type: 'image/jpeg', size: photo.length };
  const { jobId, uploadId } = await startFlow(url, 'two-sizes', 'photo', file);
  await patch(url, uploadId, photo);
  const { status } = await ended(url, jobId);
  if (status !== 'completed') throw new Error(`The flow has ${status}`);
};

const photos = await makePhotos();
process.stdout.write('made\n');
// Two for each child, so that the next photograph waits before one is done.
const lanes = Array.from({ length: 2 * availableParallelism() }, async (_, lane) => {
  for (let turn = lane; ; turn += 1) await runFlow(photos[turn % photos.length] as Buffer);
});
await Promise.all(lanes);
