/** The processes of a pool, found from outside. */
import { readdir, readFile } from 'node:fs/promises';

/** The ids of the worker children of `parent`, oldest first. */
export const childrenOf = async (parent: number = process.pid): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    const isChild = new RegExp(`^PPid:\\s+${parent}$`, 'm').test(await read('status'));
    if (isChild && (await read('cmdline')).includes('tinypool')) found.push(Number(name));
  }
  return found.sort((left, right) => left - right);
};

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
