/** The records, their logs and their deadlines: every statement, prepared once. `jobs` lists them, `usage` counts. */
import type { DatabaseSync } from 'node:sqlite';
import type { LoggedEvent } from '../../../domain/event.ts';
import type { Change, Collection, Collections, Entry } from '../../../ports/kv-store.ts';
import { createCache, type Row } from './cache.ts';
import { createJobs } from './jobs.ts';
import { createUsage } from './usage.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS records (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (collection, id)
  );
  CREATE INDEX IF NOT EXISTS records_due ON records (collection, due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS events (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (collection, id, seq)
  ) WITHOUT ROWID;
`;

/** A change as it is written; made when it is asked for, so that the caller may change its value afterwards. */
export interface Write extends Omit<Change<Collection>, 'value' | 'events'> {
  readonly body: string;
  readonly events: readonly { readonly seq: number; readonly body: string }[];
}

/** The text of a change. Throws when its value cannot be written as JSON. */
export const toWrite = ({ value, events = [], ...rest }: Change<Collection>): Write => ({
  ...rest,
  body: JSON.stringify(value),
  events: events.map((event) => ({ seq: event.seq, body: JSON.stringify(event) })),
});

/** The synchronous half of the store. Rows come back untyped; the shapes are those of `schema`. */
export const createRecords = (database: DatabaseSync) => {
  database.exec(schema);
  const cache = createCache();
  const write = createWrite(database);
  const jobs = createJobs(database);
  const usage = createUsage(database);
  const select = database.prepare('SELECT version, body FROM records WHERE collection = ? AND id = ?');
  const addEvent = database.prepare('INSERT INTO events (collection, id, seq, body) VALUES (?, ?, ?, ?)');
  const selectEvents = database.prepare(
    'SELECT body FROM events WHERE collection = ? AND id = ? AND seq > ? ORDER BY seq',
  );
  const removeRecord = database.prepare(
    'DELETE FROM records WHERE collection = ? AND id = ? AND version = coalesce(?, version)',
  );
  const removeEvents = database.prepare('DELETE FROM events WHERE collection = ? AND id = ?');
  const selectDue = database.prepare(
    'SELECT id FROM records WHERE collection = ? AND due_at <= ? ORDER BY due_at LIMIT ?',
  );

  return {
    get: <C extends Collection>(collection: C, id: string): Entry<Collections[C]> | undefined => {
      const row = cache.get(collection, id) ?? (select.get(collection, id) as Row | undefined);
      return row && { value: JSON.parse(row.body) as Collections[C], version: row.version };
    },
    /** The new version, if the record is at the expected one. To be run in a transaction and, once that holds, `kept`. */
    write: (change: Write): number | undefined => {
      const version = write(change);
      if (version === undefined) return undefined;
      if (change.usage !== undefined) usage.change(change.usage);
      for (const { seq, body } of change.events) addEvent.run(change.collection, change.id, seq, body);
      return version;
    },
    /** What a change has written is read from memory for a while: whoever writes a record reads it soon. */
    kept: ({ collection, id, body }: Write, version: number): void => cache.set(collection, id, { version, body }),
    /** From here on the database is asked for everything. */
    forget: cache.clear,
    /** To be run in a transaction. */
    remove: (collection: Collection, id: string, expectedVersion: number | undefined): boolean => {
      if (removeRecord.run(collection, id, expectedVersion ?? null).changes === 0) return false;
      cache.remove(collection, id);
      removeEvents.run(collection, id);
      return true;
    },
    events: (collection: Collection, id: string, after: number): readonly LoggedEvent[] =>
      (selectEvents.all(collection, id, after) as { body: string }[]).map(({ body }) => JSON.parse(body)),
    listJobs: jobs.list,
    isPinned: jobs.isPinned,
    usage: usage.read,
    due: (collection: Collection, until: number, limit: number): readonly string[] =>
      (selectDue.all(collection, until, limit) as { id: string }[]).map(({ id }) => id),
  };
};

/** The conditional write of one record: its new version, or `undefined` when it is not at the expected one. */
const createWrite = (database: DatabaseSync) => {
  const insert = database.prepare(
    'INSERT INTO records (collection, id, version, due_at, body) VALUES (?, ?, 1, ?, ?) ON CONFLICT DO NOTHING',
  );
  const update = database.prepare(
    'UPDATE records SET version = version + 1, due_at = ?, body = ? WHERE collection = ? AND id = ? AND version = ?',
  );
  return ({ collection, id, expectedVersion, dueAt, body }: Write): number | undefined => {
    const due = dueAt ?? null;
    const { changes } =
      expectedVersion === 0
        ? insert.run(collection, id, due, body)
        : update.run(due, body, collection, id, expectedVersion);
    return changes > 0 ? expectedVersion + 1 : undefined;
  };
};
