/**
 * A program that writes to a store until it is killed: `node kv-writer.ts <path>`. Prints the version of the record
 * `u1` once it is acknowledged, `0` when the store is open.
 */
import { writeSync } from 'node:fs';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { realClock } from './clock.ts';
import { sampleEvent, sampleUpload } from './sample-records.ts';

const store = sqliteKvStore({ path: process.argv[2] ?? '', durability: 'full', clock: realClock });
let version = 0;
writeSync(1, '0\n');
while (version >= 0) {
  const events = [sampleEvent(version + 1)];
  const value = sampleUpload({ offset: version, custom: { padding: 'x'.repeat(version % 2000) } });
  const change = { collection: 'uploads', id: 'u1', value, expectedVersion: version, events } as const;
  version = (await store.commit(change)) ?? -1;
  await store.flush();
  writeSync(1, `${version}\n`);
}
