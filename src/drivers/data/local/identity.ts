import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../start-error.ts';
import { codeOf } from './failures.ts';

/** So long another process may take to write the id into the file that it has made: tries and milliseconds. */
const tries = 40;
const betweenTries = 50;

/**
 * The id of a directory, kept in its file `directory-id`: 32 hexadecimal digits that are the same for all who see the
 * same directory, wherever it is mounted. Directory and id are made when they are missing.
 */
export const identityOf = async (directory: string): Promise<string> => {
  const path = join(directory, 'directory-id');
  await mkdir(directory, { recursive: true });
  await writeFile(path, `${randomBytes(16).toString('hex')}\n`, { flag: 'wx', flush: true }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  for (let left = tries; left > 0; left -= 1) {
    const text = await readFile(path, 'utf8');
    if (/^[0-9a-f]{32}\n$/.test(text)) return text.trim();
    await sleep(betweenTries);
  }
  throw new StartError(`${path} does not hold the id of a data directory: remove it while no replica runs`);
};
