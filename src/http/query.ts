/** Query strings as values; the only place that reads them as text. The patterns of the schemas have been checked. */
import type { Static } from 'typebox';
import { ServiceError } from '../domain/errors.ts';
import { type JobStatus, jobStatuses } from '../domain/job.ts';
import type { JobFilter } from '../ports/kv-store.ts';
import type { jobListQuery } from './schemas/flow.ts';

const defaultLimit = 20;

/** Which jobs a request asks for. Errors: `VALIDATION_ERROR` for a cursor that no answer has carried. */
export const toJobFilter = (query: Static<typeof jobListQuery>, clientId: string | undefined): JobFilter => ({
  clientId,
  flowId: query.flowId,
  statuses: query.status === undefined ? undefined : toStatuses(query.status),
  before: query.cursor === undefined ? undefined : fromCursor(query.cursor),
  limit: query.limit === undefined ? defaultLimit : Number(query.limit),
});

/** Each once, however often it was named. */
const toStatuses = (text: string): readonly JobStatus[] => {
  const names = text.split(',');
  return jobStatuses.filter((status) => names.includes(status));
};

/** The place after a job in the list, as text that clients need not understand. */
export const toCursor = (jobId: string): string => Buffer.from(jobId).toString('base64url');

const fromCursor = (cursor: string): string => {
  const jobId = Buffer.from(cursor, 'base64url').toString();
  if (/^[0-9a-f]{32}$/.test(jobId)) return jobId;
  throw new ServiceError('VALIDATION_ERROR', 'querystring.cursor is not the nextCursor of an answer', {
    details: { field: 'querystring.cursor' },
  });
};
