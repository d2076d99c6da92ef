/** The rows written last, as text: what is parsed anew cannot be changed under anybody's hands. */
import type { Collection } from '../../../ports/kv-store.ts';

/** A row of `records`, as it is read and kept. */
export interface Row {
  readonly version: number;
  readonly body: string;
}

/** Rows kept: enough for the uploads that are at work at once. */
const capacity = 256;

/** Longer rows are left to the database. */
const longest = 16_384;

export const createCache = () => {
  // The oldest first.
  const rows = new Map<string, Row>();
  const keyOf = (collection: Collection, id: string): string => `${collection}/${id}`;

  return {
    get: (collection: Collection, id: string): Row | undefined => rows.get(keyOf(collection, id)),
    set: (collection: Collection, id: string, row: Row): void => {
      const key = keyOf(collection, id);
      rows.delete(key);
      if (row.body.length > longest) return;
      rows.set(key, row);
      if (rows.size <= capacity) return;
      const [oldest = ''] = rows.keys();
      rows.delete(oldest);
    },
    remove: (collection: Collection, id: string): void => {
      rows.delete(keyOf(collection, id));
    },
    clear: (): void => rows.clear(),
  };
};
