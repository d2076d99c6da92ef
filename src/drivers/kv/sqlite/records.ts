/** The records, their logs and their deadlines: every statement, prepared once. */
import type { DatabaseSync } from 'node:sqlite';
import type { LoggedEvent } from '../../../domain/event.ts';
import type { Change, Collection, Collections, Entry } from '../../../ports/kv-store.ts';
import { createTransaction } from './database.ts';

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

/** The synchronous half of the store. Rows come back untyped; the shapes are those of `schema`. */
export const createRecords = (database: DatabaseSync) => {
  database.exec(schema);
  const transaction = createTransaction(database);
  const write = createWrite(database);
  const select = database.prepare('SELECT version, body FROM records WHERE collection = ? AND id = ?');
  const addEvent = database.prepare('INSERT INTO events (collection, id, seq, body) VALUES (?, ?, ?, ?)');
  const selectEvents = database.prepare(
    'SELECT body FROM events WHERE collection = ? AND id = ? AND seq > ? ORDER BY seq',
  );
  const removeRecord = database.prepare('DELETE FROM records WHERE collection = ? AND id = ?');
  const removeEvents = database.prepare('DELETE FROM events WHERE collection = ? AND id = ?');
  const selectDue = database.prepare(
    'SELECT id FROM records WHERE collection = ? AND due_at <= ? ORDER BY due_at LIMIT ?',
  );

  const writeWithEvents = <C extends Collection>(change: Change<C>): number | undefined => {
    const version = write(change);
    if (version === undefined) return undefined;
    for (const event of change.events ?? []) {
      addEvent.run(change.collection, change.id, event.seq, JSON.stringify(event));
    }
    return version;
  };

  return {
    get: <C extends Collection>(collection: C, id: string): Entry<Collections[C]> | undefined => {
      const row = select.get(collection, id) as { version: number; body: string } | undefined;
      return row && { value: JSON.parse(row.body) as Collections[C], version: row.version };
    },
    /** A change without events is one statement and needs no transaction around it. */
    commit: <C extends Collection>(change: Change<C>): number | undefined =>
      change.events === undefined || change.events.length === 0
        ? write(change)
        : transaction(() => writeWithEvents(change)),
    remove: (collection: Collection, id: string): boolean =>
      transaction(() => {
        removeEvents.run(collection, id);
        return removeRecord.run(collection, id).changes > 0;
      }),
    events: (collection: Collection, id: string, after: number): readonly LoggedEvent[] =>
      (selectEvents.all(collection, id, after) as { body: string }[]).map(({ body }) => JSON.parse(body)),
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
  return <C extends Collection>(change: Change<C>): number | undefined => {
    const { collection, id, expectedVersion, dueAt = null } = change;
    const body = JSON.stringify(change.value);
    const { changes } =
      expectedVersion === 0
        ? insert.run(collection, id, dueAt, body)
        : update.run(dueAt, body, collection, id, expectedVersion);
    return changes > 0 ? expectedVersion + 1 : undefined;
  };
};
