/** What the service has in its data directory: for tests of what no request tells. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the bytes of an upload are. `data`: `DATA_DIR`. */
export const storedPath = (data: string, id: string): string => join(data, 'files', 'uploads', id);

/** Bytes in the file of an upload, committed or not. */
export const storedSize = async (data: string, id: string): Promise<number> => (await stat(storedPath(data, id))).size;

export const filesBelow = async (directory: string): Promise<readonly string[]> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};
