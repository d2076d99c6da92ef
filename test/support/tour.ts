/**
 * Once through the service by its address, as a client meets it: a flow that waits for a photo, the photo in two pieces
 * with a look at the offset between them, the events of the job until its end, and its results. Throws where something
 * is not as it should be.
 */
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { download, ended, patch, startFlow } from './api.ts';
import { openEvents } from './event-socket.ts';
import { uploadClient } from './upload-client.ts';

export interface Tour {
  readonly jobId: string;
  /** What HEAD told after the first piece: bytes. */
  readonly offset: number;
  /** Types of the frames of the job, in order. */
  readonly frames: readonly string[];
  /** Widths of the results by their output key, pixels. */
  readonly widths: Readonly<Record<string, number>>;
  /** Their sizes. */
  readonly bytes: Readonly<Record<string, number>>;
}

const photo = new URL('../../docs/sample.jpg', import.meta.url);

/** Bytes of the first piece: less than the photo has. */
export const firstPiece = 200_000;

/** Runs the flow "two-sizes" at `url`, such as `http://127.0.0.1:3000/sluice`. */
export const takeTour = async (url: string): Promise<Tour> => {
  const bytes = await readFile(photo);
  const file = { name: 'sample.jpg', type: 'image/jpeg', size: bytes.length };
  const { jobId, uploadId } = await startFlow(url, 'two-sizes', 'photo', file);
  const events = openEvents(url, `/ws/flow/${jobId}`);
  await patch(url, uploadId, bytes.subarray(0, firstPiece));
  const offset = await uploadClient(url).offset(uploadId);
  await patch(url, uploadId, bytes.subarray(offset), offset);
  await events.until('flow_complete');
  events.socket.terminate();
  const { outputs } = await ended(url, jobId);
  const [widths, sizes]: [Record<string, number>, Record<string, number>] = [{}, {}];
  for (const [key, { url: fileUrl }] of Object.entries<{ readonly url: string }>(outputs)) {
    const result = await download(url, fileUrl);
    widths[key] = (await sharp(result).metadata()).width;
    sizes[key] = result.length;
  }
  return { jobId, offset, frames: events.frames.map(({ type }) => type), widths, bytes: sizes };
};
