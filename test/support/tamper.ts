/** Puts the records of a rig into a state that only a crash leaves. */
import { join } from 'node:path';
import { systemClock } from '../../src/drivers/clock.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import type { Rig } from './engine-rig.ts';

/** Changes the records of a rig that has been closed. */
export const tamper = async (
  { directory }: Pick<Rig, 'directory'>,
  change: (kvStore: KvStore) => Promise<void>,
): Promise<void> => {
  const path = join(directory, 'kv.db');
  const kvStore = sqliteKvStore({ path, durability: 'process', clock: systemClock });
  await change(kvStore);
  await kvStore.close();
};
