import type { JobRecord } from '../domain/job.ts';
import type { JobFilter } from '../ports/kv-store.ts';
import type { EngineDeps } from './records.ts';

export interface JobPage {
  readonly items: readonly JobRecord[];
  /** What the filter of the next page has as `before`; absent: this page is the last. */
  readonly next?: string;
}

/** Lists jobs, the newest first; a job that is started meanwhile moves nothing from one page to another. */
export type ListJobs = (filter: JobFilter) => Promise<JobPage>;

export const createList =
  ({ kvStore }: Pick<EngineDeps, 'kvStore'>): ListJobs =>
  async (filter) => {
    // One more than asked for tells whether there is a next page.
    const ids = await kvStore.listJobs({ ...filter, limit: filter.limit + 1 });
    const page = ids.slice(0, filter.limit);
    const entries = await Promise.all(page.map((id) => kvStore.get('jobs', id)));
    const items = entries.flatMap((entry) => (entry === undefined ? [] : [entry.value]));
    const next = ids.length > page.length ? page.at(-1) : undefined;
    return { items: items.filter((job) => isListed(filter, job)), ...(next === undefined ? {} : { next }) };
  };

/** The status may have changed between the index and the record. */
const isListed = ({ statuses }: JobFilter, job: JobRecord): boolean => statuses?.includes(job.status) ?? true;
