/** The definitions that jobs are pinned to: kept for as long as a job refers to them. */
import { createHash } from 'node:crypto';
import { ServiceError } from '../domain/errors.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import type { JobRecord } from '../domain/job.ts';
import type { EngineDeps } from './records.ts';

/** So long after a job was started with it, or was found to refer to it, a definition is looked at again; milliseconds. */
const keptMs = 3_600_000;

/** So long before, the next start moves that on: whoever has just pinned it will have written its job by then. */
const marginMs = 3_000_000;

/** The definition that the job is pinned to. */
export const definitionOf = async (deps: Pick<EngineDeps, 'kvStore'>, job: JobRecord): Promise<FlowDefinition> => {
  const entry = await deps.kvStore.get('definitions', job.definitionHash);
  if (entry === undefined) throw new ServiceError('FLOW_NOT_FOUND', 'The definition of the job is gone');
  return entry.value;
};

/** Keeps the definition for a job that starts now, and gives the hash of its content, under which it is found. */
export type PinDefinition = (flow: FlowDefinition) => Promise<string>;

export const createPinDefinition = ({ kvStore, clock }: Pick<EngineDeps, 'kvStore' | 'clock'>): PinDefinition => {
  /** When each was written by this process, so that not every start writes it again. */
  const written = new Map<string, number>();

  return async (flow) => {
    const hash = createHash('sha256').update(JSON.stringify(flow)).digest('hex');
    const known = await kvStore.get('definitions', hash);
    const now = clock.now();
    if (known !== undefined && now - (written.get(hash) ?? 0) < keptMs - marginMs) return hash;
    // A definition is never changed, so losing to another writer is as good as winning.
    const expectedVersion = known?.version ?? 0;
    await kvStore.commit({ collection: 'definitions', id: hash, value: flow, expectedVersion, dueAt: now + keptMs });
    written.set(hash, now);
    return hash;
  };
};

/** Removes a definition that is due, unless a job refers to it. */
export const forgetDefinition = async (
  { kvStore, clock }: Pick<EngineDeps, 'kvStore' | 'clock'>,
  hash: string,
): Promise<void> => {
  const entry = await kvStore.get('definitions', hash);
  if (entry === undefined) return;
  const { value, version } = entry;
  if (await kvStore.isPinned(hash)) {
    const dueAt = clock.now() + keptMs;
    await kvStore.commit({ collection: 'definitions', id: hash, value, expectedVersion: version, dueAt });
  } else {
    // Whoever has pinned it meanwhile keeps it.
    await kvStore.remove('definitions', hash, version);
  }
};
