/** What the first bytes of a file say of its format, where the decoder says nothing: a cut TIFF is still a TIFF. */
import { open } from 'node:fs/promises';
import type { ImageFormat } from './format.ts';

/** In Latin-1, a character for each byte, and where it stands. */
const signatures: readonly (readonly [ImageFormat, string, number])[] = [
  ['jpeg', '\xff\xd8\xff', 0],
  ['png', '\x89PNG\r\n\x1a\n', 0],
  ['gif', 'GIF87a', 0],
  ['gif', 'GIF89a', 0],
  ['webp', 'WEBP', 8],
  ['avif', 'ftypavif', 4],
  ['avif', 'ftypavis', 4],
  ['tiff', 'II*\0', 0],
  ['tiff', 'MM\0*', 0],
  ['tiff', 'II+\0', 0],
  ['tiff', 'MM\0+', 0],
];

/** As many bytes as tell. */
const headSize = 12;

/** The format that the file begins as, which may also be that of another one; nothing when kinds read none such. */
export const signatureOf = async (path: string): Promise<ImageFormat | undefined> => {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headSize), 0, headSize, 0);
  const head = buffer.toString('latin1', 0, bytesRead);
  return signatures.find(([, text, at]) => head.startsWith(text, at))?.[0];
};
