/** One try of one node: scratch folder, worker, publication of what it made. */
import { mkdir, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ServiceError } from '../domain/errors.ts';
import { safeFileName } from '../domain/file-name.ts';
import type { JobFile, JobRecord } from '../domain/job.ts';
import type { MadeFile } from '../ports/worker-pool.ts';
import { isIntermediate } from './plan.ts';
import type { EngineDeps } from './records.ts';
import type { Session } from './session.ts';

/**
 * Runs the node over its files and publishes the results under keys that only depend on their content, so that a
 * second run after a crash lands on the same ones. The scratch folder is gone when it settles.
 */
export const runNode = async (
  deps: EngineDeps,
  session: Session,
  nodeId: string,
  files: readonly JobFile[],
  signal: AbortSignal,
): Promise<readonly JobFile[]> => {
  const { job, flow } = session;
  const node = flow.nodes[nodeId];
  if (node === undefined) throw new ServiceError('NODE_NOT_FOUND');
  const directory = join(deps.scratchDirectory, `${job.id}-${nodeId}-${deps.clock.newId()}`);
  const roleOf = (id: string) => deps.kinds[flow.nodes[id]?.type ?? '']?.role ?? 'process';
  try {
    await mkdir(join(directory, 'in'), { recursive: true });
    await mkdir(join(directory, 'out'));
    const intermediate = isIntermediate(flow, nodeId, roleOf);
    const task = {
      chains: [[{ nodeId, kind: node.type, options: node.options ?? {}, intermediate }]],
      files: await materialize(deps, files, join(directory, 'in')),
      directory: join(directory, 'out'),
      limits: deps.limits,
      values: {},
    };
    const [outputs = []] = await deps.workerPool.run(task, signal);
    const made = outputs.filter((output) => 'path' in output);
    return await publishOutputs(deps, job, nodeId, made, signal);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

const materialize = (deps: EngineDeps, files: readonly JobFile[], directory: string) =>
  Promise.all(
    files.map(async (file, index) => {
      const place = join(directory, String(index));
      await mkdir(place);
      const path = await deps.storage(file.storageId).materialize(file.key, place);
      return { path, mimeType: file.mimeType, fileName: file.fileName };
    }),
  );

const publishOutputs = async (
  deps: EngineDeps,
  job: JobRecord,
  nodeId: string,
  outputs: readonly MadeFile[],
  signal: AbortSignal,
): Promise<readonly JobFile[]> => {
  const files: JobFile[] = [];
  for (const [index, output] of outputs.entries()) {
    signal.throwIfAborted();
    const key = `${jobPrefix(job.id)}${nodeId}/${index}-${output.sha256.slice(0, 12)}${extname(output.path)}`;
    await deps.storage(job.storageId).publish(key, output.path);
    const { size, mimeType, meta } = output;
    // A kind may have given the name another, longer extension.
    const fileName = safeFileName(output.fileName, nodeId);
    files.push({ key, storageId: job.storageId, size, mimeType, fileName, meta, owned: true });
  }
  return files;
};

/** Everything that a job makes lives below it in the data store. */
export const jobPrefix = (jobId: string): string => `jobs/${jobId}/`;
