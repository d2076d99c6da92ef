/** The counters of clients. */
import type { DatabaseSync } from 'node:sqlite';
import { type Quota, requireWithin, type UsageChange } from '../../../domain/quota.ts';
import type { Usage } from '../../../domain/upload.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS usage (
    client TEXT PRIMARY KEY,
    open_uploads INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/** No client's id is empty: it stands for those without one. */
const keyOf = (clientId: string | undefined): string => clientId ?? '';

const isLimited = ({ openUploads, storedBytes }: Quota): boolean =>
  openUploads !== undefined || storedBytes !== undefined;

/** The synchronous half, for use within the transaction of the record that is counted. */
export const createUsage = (database: DatabaseSync) => {
  database.exec(schema);
  const select = database.prepare('SELECT open_uploads, stored_bytes FROM usage WHERE client = ?');
  // A client may promise more bytes than a number holds exactly; the sums are made by SQLite.
  select.setReadBigInts(true);
  const add = database.prepare(`
    INSERT INTO usage (client, open_uploads, stored_bytes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
    SET open_uploads = open_uploads + excluded.open_uploads, stored_bytes = stored_bytes + excluded.stored_bytes
  `);

  const read = (clientId: string | undefined): Usage => {
    const row = select.get(keyOf(clientId)) as { open_uploads: bigint; stored_bytes: bigint } | undefined;
    return { openUploads: Number(row?.open_uploads ?? 0), storedBytes: Number(row?.stored_bytes ?? 0) };
  };

  return {
    read,
    /** Throws `QUOTA_EXCEEDED`. */
    change: (change: UsageChange): void => {
      // Most services set no limits, and every upload comes by here.
      if (isLimited(change.quota)) requireWithin(read(change.clientId), change);
      add.run(keyOf(change.clientId), change.delta.openUploads, change.delta.storedBytes);
    },
  };
};
