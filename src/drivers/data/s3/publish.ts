/** Streams finished local files into the store; each appears there all at once. */
import { rm, stat } from 'node:fs/promises';
import { fileBody } from './body.ts';
import type { Bucket } from './bucket.ts';
import { completeUpload } from './complete.ts';
import { type Part, partSize } from './state.ts';

/** Bytes up to which a file is one request, sent again as a whole when that fails. */
const oneRequest = 64 * 1_048_576;
/** Parts on their way at a time. */
const flights = 2;

/** Puts the file at `path` under `name`, and removes it once it is there. */
export const publishFile = async (bucket: Bucket, name: string, path: string): Promise<void> => {
  const { size } = await stat(path);
  if (size <= oneRequest) await bucket.put(name, fileBody(path, 0, size));
  else await publishParts(bucket, name, path, size);
  await rm(path, { force: true });
};

const publishParts = async (bucket: Bucket, name: string, path: string, size: number): Promise<void> => {
  const uploadId = await bucket.begin(name);
  try {
    const parts = await sendParts(bucket, name, uploadId, { path, size });
    await completeUpload(bucket, name, { uploadId, parts, length: size });
  } catch (error) {
    // Parts take up room until then; what this does not reach is the sweep's.
    await bucket.abort(name, uploadId).catch(() => {});
    throw error;
  }
};

const sendParts = async (
  bucket: Bucket,
  name: string,
  uploadId: string,
  { path, size }: { readonly path: string; readonly size: number },
): Promise<readonly Part[]> => {
  const length = partSize(1, size);
  const stop = new AbortController();
  const count = Math.ceil(size / length);
  const parts: Part[] = [];
  let next = 1;
  const work = async () => {
    while (next <= count) {
      const number = next;
      next += 1;
      const body = fileBody(path, (number - 1) * length, Math.min(size, number * length));
      parts[number - 1] = [number, await bucket.putPart(name, uploadId, number, body, stop.signal), body.size];
    }
  };
  const results = await Promise.allSettled(
    Array.from({ length: flights }, () =>
      work().catch((error: unknown) => {
        stop.abort();
        throw error;
      }),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return parts;
};
