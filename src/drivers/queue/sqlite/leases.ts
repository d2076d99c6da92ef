/** The table of entries and who holds them. Times are milliseconds since 1970. */
import type { DatabaseSync } from 'node:sqlite';
import type { QueueEntry } from '../../../ports/job-queue.ts';

/** `owner` is one claim, not one process: a holder whose lease has lapsed cannot touch what another has claimed since. */
const schema = `
  CREATE TABLE IF NOT EXISTS queue (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL,
    run_at INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER
  );
  CREATE INDEX IF NOT EXISTS queue_waiting ON queue (run_at) WHERE owner IS NULL;
  CREATE INDEX IF NOT EXISTS queue_held ON queue (lease_until) WHERE owner IS NOT NULL;
`;

/** What one consumer slot holds. */
export interface Claim extends QueueEntry {
  readonly owner: string;
}

/** Opens the table. The database belongs to one process, so whoever held an entry before is dead. */
export const createLeases = (database: DatabaseSync) => {
  database.exec(schema);
  database.exec('UPDATE queue SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL');
  const insert = database.prepare('INSERT INTO queue (id, job_id, run_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const lapse = database.prepare(
    'UPDATE queue SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL AND lease_until <= ?',
  );
  // The index keeps entries of the same time in the order in which they came.
  const claim = database.prepare(`
    UPDATE queue SET owner = ?, lease_until = ?
    WHERE rowid = (SELECT rowid FROM queue WHERE owner IS NULL AND run_at <= ? ORDER BY run_at, rowid LIMIT 1)
    RETURNING id, job_id`);
  const renew = database.prepare('UPDATE queue SET lease_until = ? WHERE id = ? AND owner = ?');
  const remove = database.prepare('DELETE FROM queue WHERE id = ? AND owner = ?');
  const release = database.prepare(
    'UPDATE queue SET owner = NULL, lease_until = NULL, run_at = ? WHERE id = ? AND owner = ?',
  );
  const selectNext = database.prepare(`
    SELECT min(at) AS at FROM (
      SELECT min(run_at) AS at FROM queue WHERE owner IS NULL
      UNION ALL SELECT min(lease_until) FROM queue WHERE owner IS NOT NULL)`);

  return {
    insert: ({ id, jobId }: QueueEntry, runAt: number): void => {
      insert.run(id, jobId, runAt);
    },
    /** Frees the entries whose holder has not renewed in time. */
    lapse: (now: number): void => {
      lapse.run(now);
    },
    claim: (owner: string, now: number, until: number): Claim | undefined => {
      const row = claim.get(owner, until, now) as { id: string; job_id: string } | undefined;
      return row && { id: row.id, jobId: row.job_id, owner };
    },
    renew: ({ id, owner }: Claim, until: number): void => {
      renew.run(until, id, owner);
    },
    remove: ({ id, owner }: Claim): void => {
      remove.run(id, owner);
    },
    release: ({ id, owner }: Claim, runAt: number): void => {
      release.run(runAt, id, owner);
    },
    /** When there will be something to claim or to free. */
    nextAt: (): number | undefined => (selectNext.get() as { at: number | null }).at ?? undefined,
  };
};

export type Leases = ReturnType<typeof createLeases>;
