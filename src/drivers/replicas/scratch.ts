/** The scratch folders of replicas that share the directory which they are in: each has its own, and the dead are swept. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Replica } from './redis/index.ts';

/** Removes the folders of replicas of the same `files` that live no more; gives the path of this replica's own, which is not made. */
export const claimScratch = async (root: string, files: string, replica: Replica): Promise<string> => {
  // Only of those that have the same files: others may use the same root, and are not known here.
  const prefix = `sluice-${files}-`;
  // Read first: whoever has a folder has joined before, and is among the living unless it is dead.
  const names = await readdir(root).catch(() => []);
  const live = new Set(await replica.live());
  const isDead = (name: string) => name.startsWith(prefix) && !live.has(name.slice(prefix.length));
  for (const name of names.filter(isDead)) await rm(join(root, name), { recursive: true, force: true });
  return join(root, `${prefix}${replica.id}`);
};
