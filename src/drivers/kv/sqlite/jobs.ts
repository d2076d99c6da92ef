/** The index of jobs: expressions over the records themselves, so that nothing has to be kept in step with them. */
import type { DatabaseSync } from 'node:sqlite';
import { jobStatuses } from '../../../domain/job.ts';
import type { JobFilter } from '../../../ports/kv-store.ts';

/** Partial, so that they cost uploads nothing. */
const schema = `
  CREATE INDEX IF NOT EXISTS jobs_by_status ON records (body ->> '$.clientId', body ->> '$.status', id)
  WHERE collection = 'jobs';
  CREATE INDEX IF NOT EXISTS jobs_by_flow ON records (body ->> '$.clientId', body ->> '$.flowId', body ->> '$.status', id)
  WHERE collection = 'jobs';
  CREATE INDEX IF NOT EXISTS jobs_by_definition ON records (body ->> '$.definitionHash') WHERE collection = 'jobs';
`;

/** SQLite uses an index of expressions for those very expressions only. */
const select = (condition: string): string => `
  SELECT id FROM records WHERE collection = 'jobs' AND body ->> '$.clientId' IS ? ${condition}
  AND body ->> '$.status' = ? AND id < ? ORDER BY id DESC LIMIT ?
`;

export const jobQueries = {
  ofAnyFlow: select(''),
  ofOneFlow: select("AND body ->> '$.flowId' = ?"),
  ofOneDefinition: "SELECT 1 FROM records WHERE collection = 'jobs' AND body ->> '$.definitionHash' = ? LIMIT 1",
} as const;

/** Sorts behind every id. */
const behindAll = '\u{10ffff}';

export const createJobs = (database: DatabaseSync) => {
  database.exec(schema);
  const ofAnyFlow = database.prepare(jobQueries.ofAnyFlow);
  const ofOneFlow = database.prepare(jobQueries.ofOneFlow);

  const ofOneDefinition = database.prepare(jobQueries.ofOneDefinition);

  return {
    isPinned: (definitionHash: string): boolean => ofOneDefinition.get(definitionHash) !== undefined,
    list: ({ clientId, statuses = jobStatuses, flowId, before = behindAll, limit }: JobFilter): readonly string[] => {
      const statement = flowId === undefined ? ofAnyFlow : ofOneFlow;
      const owner = flowId === undefined ? [clientId ?? null] : [clientId ?? null, flowId];
      // One query for several statuses would sort everything that it finds before it gives out a page.
      const ranges = statuses.map((status) => statement.all(...owner, status, before, limit) as { id: string }[]);
      const ids = ranges.flat().map(({ id }) => id);
      return ids.sort().reverse().slice(0, limit);
    },
  };
};
