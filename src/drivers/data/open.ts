/** Storages by what settings say of them. */
import type { DataStore } from '../../ports/data-store.ts';
import { type LocalDataStoreOptions, localDataStore } from './local/index.ts';
import type { S3DataStoreOptions } from './s3/index.ts';

/** One storage: a directory, or a bucket. */
export type Storage =
  | ({ readonly type: 'local' } & Pick<LocalDataStoreOptions, 'directory'>)
  | ({ readonly type: 's3' } & S3DataStoreOptions);

/** Opens them all, under the same ids. Those in buckets share one budget of memory; the SDK is loaded for them only. */
export const openStorages = async <S extends Readonly<Record<string, Storage>>>(
  storages: S,
  { durability }: Pick<LocalDataStoreOptions, 'durability'>,
): Promise<{ readonly [Id in keyof S]: DataStore }> => {
  const openS3 = Object.values(storages).some(({ type }) => type === 's3') ? await loadS3() : undefined;
  const open = (storage: Storage): Promise<DataStore> | undefined =>
    storage.type === 's3' ? openS3?.(storage) : localDataStore({ directory: storage.directory, durability });
  const opened = Object.entries(storages).map(async ([id, storage]) => [id, await open(storage)]);
  return Object.fromEntries(await Promise.all(opened));
};

const loadS3 = async (): Promise<(options: S3DataStoreOptions) => Promise<DataStore>> => {
  const [{ s3DataStore }, { createBudget }] = await Promise.all([import('./s3/index.ts'), import('./s3/budget.ts')]);
  const budget = createBudget();
  return (options) => s3DataStore({ ...options, budget });
};
