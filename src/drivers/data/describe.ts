/** What the replicas at one Redis must have in common: their storages. */
import { createHash } from 'node:crypto';
import { identityOf } from './local/identity.ts';
import type { Storage } from './open.ts';

/** What a replica says of its storages. */
export interface SharedStorages {
  /** 32 hexadecimal digits, the same for all who see the same directories and buckets under the same ids. */
  readonly id: string;
  /** All of them are buckets: no replica can have one to itself. */
  readonly isRemote: boolean;
}

/** Looks at the directories, which are made when they are missing; a bucket goes by its name and prefix. */
export const describeStorages = async (storages: Readonly<Record<string, Storage>>): Promise<SharedStorages> => {
  const entries = Object.entries(storages);
  const lines = entries.map(async ([id, storage]) => [id, ...(await placeOf(storage))].join('\n'));
  const text = (await Promise.all(lines)).toSorted().join('\n\n');
  return {
    id: createHash('sha256').update(text).digest('hex').slice(0, 32),
    isRemote: entries.every(([, { type }]) => type === 's3'),
  };
};

const placeOf = async (storage: Storage): Promise<readonly string[]> =>
  storage.type === 's3' ? ['s3', storage.bucket, storage.prefix ?? ''] : ['local', await identityOf(storage.directory)];
