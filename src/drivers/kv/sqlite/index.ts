/**
 * Records in one SQLite file of this process alone. The calls are synchronous inside: a commit is some microseconds,
 * and only `flush` waits for the disk.
 *
 * `database` opens and locks the file, `records`, `jobs` and `usage` hold the statements, `cache` what was written last,
 * `group` makes one transaction of the commits of a moment, `flush` makes them durable. The job queue beside the records
 * is `drivers/queue/sqlite`.
 */
import type { Clock } from '../../../ports/clock.ts';
import type { JobQueue } from '../../../ports/job-queue.ts';
import type { KvStore } from '../../../ports/kv-store.ts';
import { localOwners } from '../../owners/local/index.ts';
import { type SqliteQueue, sqliteQueue } from '../../queue/sqlite/index.ts';
import { answer, createTransaction, openDatabase } from './database.ts';
import { noFlush, walFlush } from './flush.ts';
import { createGroup } from './group.ts';
import { createRecords, toWrite } from './records.ts';

export interface SqliteKvStoreOptions {
  /** The database file; its directory is made when it is missing. */
  readonly path: string;
  /** `full`: what was flushed survives a power cut; `process`: the death of the process. */
  readonly durability: 'full' | 'process';
  readonly clock: Clock;
}

/** Opens the store. Throws an error that names the path when another process has it open. */
export const sqliteKvStore = ({ path, durability, clock }: SqliteKvStoreOptions): KvStore => {
  const database = openDatabase(path);
  const records = createRecords(database);
  const { written, flush, check, close } = durability === 'full' ? walFlush(path) : noFlush;
  const transaction = createTransaction(database);
  const group = createGroup(transaction, records.write, (write, version) => {
    records.kept(write, version);
    written();
  });
  // The database belongs to this process alone, and so do its uploads.
  const owners = localOwners();
  let queue: SqliteQueue | undefined;

  return {
    get: (collection, id) => answer(() => records.get(collection, id)),
    commit: (change) => answer(() => group.add(toWrite(change))),
    remove: (collection, id, expectedVersion) =>
      answer(() => {
        // What was asked for before comes before.
        group.run();
        const removed = transaction(() => records.remove(collection, id, expectedVersion));
        if (removed) written();
        return removed;
      }),
    events: (collection, id, after) => answer(() => records.events(collection, id, after)),
    due: (collection, until, limit) => answer(() => records.due(collection, until, limit)),
    listJobs: (filter) => answer(() => records.listJobs(filter)),
    isPinned: (definitionHash) => answer(() => records.isPinned(definitionHash)),
    usage: (clientId) => answer(() => records.usage(clientId)),
    flush,
    queue: (): JobQueue => {
      queue ??= sqliteQueue({ database, clock });
      return queue;
    },
    owners: () => owners,
    ping: () =>
      answer(() => {
        check();
        records.due('uploads', 0, 1);
      }),
    close: async () => {
      if (!database.isOpen) return;
      group.run();
      records.forget();
      queue?.abandon();
      await close();
      if (database.isOpen) database.close();
    },
  };
};
