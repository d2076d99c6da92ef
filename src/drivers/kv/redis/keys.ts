/** The names of everything that the store keeps in Redis. */
import type { JobRecord, JobStatus } from '../../../domain/job.ts';
import type { Collection } from '../../../ports/kv-store.ts';

/** An id of a client or a flow between colons: as JSON, which no other id can be mistaken for. Nobody is nothing. */
const quoted = (id: string | undefined): string => (id === undefined ? '' : JSON.stringify(id));

/** All of them begin with `prefix`. */
export const createKeys = (prefix: string) => ({
  /** A hash: `version`, `body`, `last` (the number of its last event) and, of a job, the lists that it is in. */
  record: (collection: Collection, id: string): string => `${prefix}:${collection}:${id}`,
  /** A stream, whose ids are the numbers of the events. */
  log: (collection: Collection, id: string): string => `${prefix}:log:${collection}:${id}`,
  /** A sorted set of ids, the times as scores. */
  deadlines: (collection: Collection): string => `${prefix}:due:${collection}`,
  /** A hash of the counters of a client. */
  counters: (clientId: string | undefined): string => `${prefix}:usage:${quoted(clientId)}`,
  /** Sorted sets of ids, all scores zero: they are in the order of the ids. */
  byStatus: (clientId: string | undefined, status: JobStatus): string => `${prefix}:list:${quoted(clientId)}:${status}`,
  byFlow: (clientId: string | undefined, flowId: string, status: JobStatus): string =>
    `${prefix}:list:${quoted(clientId)}:${quoted(flowId)}:${status}`,
  byDefinition: (definitionHash: string): string => `${prefix}:pinned:${definitionHash}`,
});

export type Keys = ReturnType<typeof createKeys>;

/** The lists that a job belongs into. */
export const listsOf = (keys: Keys, { clientId, flowId, status, definitionHash }: JobRecord): readonly string[] => [
  keys.byStatus(clientId, status),
  keys.byFlow(clientId, flowId, status),
  keys.byDefinition(definitionHash),
];
