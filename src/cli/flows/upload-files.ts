import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { mediaTypeOfName } from '../../domain/media-type.ts';
import type { InputOperation } from '../../engine/inputs.ts';
import type { Uploads } from '../../uploads/index.ts';
import type { AssignedFiles } from './assign-files.ts';

/** Bytes of one read. */
const readSize = 2 ** 20;

/** Brings the files in as uploads, and gives the start of the job what it asks for: an operation for each of them. */
export const uploadFiles = async (
  uploads: Uploads,
  inputs: AssignedFiles,
  signal: AbortSignal,
  say: (what: string) => void,
): Promise<Readonly<Record<string, readonly InputOperation[]>>> => {
  const operations: Record<string, readonly InputOperation[]> = {};
  for (const [nodeId, files] of inputs) {
    const uploaded: InputOperation[] = [];
    for (const file of files) {
      say(`reading ${basename(file)}`);
      uploaded.push({ operation: 'upload', uploadId: await upload(uploads, file, signal) });
    }
    operations[nodeId] = uploaded;
  }
  return operations;
};

const upload = async (uploads: Uploads, file: string, signal: AbortSignal): Promise<string> => {
  const fileName = basename(file);
  const { size } = await stat(file);
  const { id } = await uploads.create({ fileName, size, type: mediaTypeOfName(fileName) });
  // An empty upload is complete as it is created.
  if (size > 0) {
    const body = createReadStream(file, { highWaterMark: readSize, signal });
    await uploads.append({ id, offset: 0, contentLength: size, body });
  }
  return id;
};
