/** The files of a folder as the service would get them. */
import { open, readdir, stat } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import { mediaTypeOfName } from '../../src/domain/media-type.ts';
import { sniff } from '../../src/uploads/sniff.ts';

export interface CorpusFile {
  readonly corpus: string;
  /** Below the folder of its corpus. */
  readonly name: string;
  readonly path: string;
  readonly fileName: string;
  /** Bytes. */
  readonly size: number;
  /** What the first bytes tell; else what the name does. */
  readonly mimeType: string;
}

/** What stands between the pictures: programs, and what they should print. */
const others = new Set(
  '.am .c .cmd .conf .css .csv .h .html .in .ini .js .json .md .out .pl .ps1 .py .sh .t .txt .ttf .xml .yml'.split(' '),
);

const plain = /^(README|LICENSE|COPYING|Makefile|bashrc|.*\.mk)$/i;

/** As many bytes as the service looks at. */
const headSize = 4100;

/** All files of the folder, in the order of their names. */
export const filesOf = async (corpus: string, folder: string): Promise<readonly CorpusFile[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pictures = paths.filter((path) => !others.has(extname(path).toLowerCase()) && !plain.test(basename(path)));
  return Promise.all(
    pictures.toSorted().map(async (path) => ({
      corpus,
      name: relative(folder, path),
      path,
      fileName: basename(path),
      size: (await stat(path)).size,
      mimeType: await mediaTypeOf(path),
    })),
  );
};

const mediaTypeOf = async (path: string): Promise<string> => {
  const { detectedType } = await sniff(await headOf(path));
  return detectedType ?? (mediaTypeOfName(basename(path)) || 'application/octet-stream');
};

const headOf = async (path: string): Promise<Buffer> => {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headSize), 0, headSize, 0);
  return buffer.subarray(0, bytesRead);
};
