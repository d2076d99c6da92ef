/** What no record knows of: multipart uploads and tails of writers that died before they were recorded, or removed. */
import type { SweepOptions } from '../../../ports/data-store.ts';
import type { Bucket } from './bucket.ts';
import type { Names } from './names.ts';
import type { State } from './state.ts';

/**
 * Lifecycle rules cannot do this: not every server has them, and they would also end uploads that are slow but alive.
 * Nothing younger than `before` is touched, so a lost key-value store does not become lost bytes at once.
 */
export const sweep = async (bucket: Bucket, names: Names, { before, stateOf }: SweepOptions): Promise<void> => {
  const known = async (key: string) => (await stateOf(key)) as Partial<State> | undefined | null;
  for await (const { name, uploadId, initiated } of bucket.uploads(names.beginning(''))) {
    const key = names.keyOf(name);
    if (key === undefined || initiated.getTime() >= before) continue;
    if ((await known(key))?.uploadId !== uploadId) await bucket.abort(name, uploadId);
  }
  for await (const { name, modified } of bucket.list(names.tails)) {
    const tail = names.tailOf(name);
    if (tail === undefined || modified.getTime() >= before) continue;
    const tails = (await known(tail.key))?.tails ?? [];
    if (!tails.some(([id]) => id === tail.id)) await bucket.remove(name);
  }
};
