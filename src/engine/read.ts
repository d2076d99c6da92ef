import { ServiceError } from '../domain/errors.ts';
import type { FlowDefinition } from '../domain/flow.ts';
import type { JobOutput, JobRecord } from '../domain/job.ts';
import { mayRead, type Reader } from '../domain/reader.ts';
import type { UploadRecord } from '../domain/upload.ts';
import type { DataStore } from '../ports/data-store.ts';
import { definitionOf } from './definitions.ts';
import { type EngineDeps, findFlow, findJob } from './records.ts';

export interface ReadJobs {
  listFlows(): readonly FlowDefinition[];
  /** Errors: `FLOW_NOT_FOUND`. */
  getFlow(flowId: string): FlowDefinition;
  /** The display name of a kind. */
  kindName(kind: string): string;
  /** Errors: `FLOW_JOB_NOT_FOUND`. */
  getJob(jobId: string, clientId: string | undefined): Promise<JobRecord>;
  /** The definition that the job is pinned to. */
  definition(job: JobRecord): Promise<FlowDefinition>;
  /** The uploads of a job's inputs, by their ids. */
  inputUploads(job: JobRecord): Promise<ReadonlyMap<string, UploadRecord>>;
  /** An output of a completed job and the store that holds it. Errors: `FILE_NOT_FOUND`. */
  output(
    jobId: string,
    key: string,
    reader: Reader,
  ): Promise<{ readonly job: JobRecord; readonly output: JobOutput; readonly store: DataStore }>;
}

export const createReadJobs = (deps: EngineDeps): ReadJobs => ({
  listFlows: () => Object.values(deps.flows()),
  getFlow: (flowId) => findFlow(deps, flowId),
  kindName: (kind) => deps.kinds[kind]?.name ?? kind,
  getJob: async (jobId, clientId) => (await findJob(deps, jobId, clientId)).value,
  definition: (job) => definitionOf(deps, job),
  async inputUploads(job) {
    const uploads = new Map<string, UploadRecord>();
    for (const { id } of job.tasks.flatMap((task) => task.uploads ?? [])) {
      const entry = await deps.kvStore.get('uploads', id);
      if (entry !== undefined) uploads.set(id, entry.value);
    }
    return uploads;
  },
  async output(jobId, key, reader) {
    const entry = await deps.kvStore.get('jobs', jobId);
    if (entry === undefined || !mayRead(reader, entry.value)) throw new ServiceError('FILE_NOT_FOUND');
    const outputs = entry.value.outputs ?? {};
    const output = Object.hasOwn(outputs, key) ? outputs[key] : undefined;
    if (output === undefined) throw new ServiceError('FILE_NOT_FOUND');
    return { job: entry.value, output, store: deps.storage(output.storageId) };
  },
});
