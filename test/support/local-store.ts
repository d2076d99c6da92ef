/** The local data store in a directory of the test. */
import { localDataStore } from '../../src/drivers/data/local/index.ts';
import type { DataStore } from '../../src/ports/data-store.ts';
import type { Owner } from './temporary.ts';
import { temporaryDirectory } from './temporary.ts';

export const openLocal = async (t: Owner, durability: 'full' | 'process' = 'full') => {
  const directory = await temporaryDirectory(t);
  return { directory, store: await localDataStore({ directory, durability }) };
};

/** Uploads a whole file. */
export const put = async (store: DataStore, key: string, content: string): Promise<void> => {
  const sink = await store.append(key, { offset: 0 });
  sink.write(Buffer.from(content));
  await sink.finish({ length: content.length });
  await sink.close();
};
