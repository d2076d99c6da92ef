/** One try of one unit: scratch folder, worker, publication of what it made. */
import { extname, join } from 'node:path';
import { ServiceError } from '../domain/errors.ts';
import { safeFileName } from '../domain/file-name.ts';
import type { JobFile, JobRecord } from '../domain/job.ts';
import { passFiles as passFilesOf } from '../ports/node-options.ts';
import type { MadeFile, PassedFile, WorkerNotice, WorkerOutput, WorkerStep, WorkerTask } from '../ports/worker-pool.ts';
import { materializeAssets } from './assets.ts';
import { type InputFile, inputFiles } from './plan.ts';
import type { EngineDeps } from './records.ts';
import type { Session } from './session.ts';
import { templateValues } from './template-values.ts';
import { isBare, tailsOf, type Unit } from './units.ts';

/** What the last node of each chain has delivered, by its id. */
export type Delivery = ReadonlyMap<string, readonly JobFile[]>;

/** What a node decides without looking at bytes, if it can: no worker is needed then. Throws what `pass` throws. */
export const passFiles = (deps: EngineDeps, session: Session, unit: Unit): Delivery | undefined => {
  const [[nodeId = ''] = []] = unit.chains;
  const node = session.flow.nodes[nodeId];
  const kind = deps.kinds[node?.type ?? ''];
  if (kind?.pass === undefined) return undefined;
  const files = inputFiles(session.flow, session.job, nodeId);
  const facts = files.map(({ file: { size, mimeType, fileName, meta }, edge, handle }) => ({
    ...{ size, mimeType, fileName, edge },
    ...(meta === undefined ? {} : { meta }),
    ...(handle === undefined ? {} : { handle }),
  }));
  const step = { nodeId, options: node?.options ?? {} };
  const passed = passFilesOf(kind, step, facts, templateValues(session.flow, session.job));
  return passed && new Map([[nodeId, passed.map((one) => passedFile(files, one))]]);
};

const passedFile = (files: readonly InputFile[], { passes, handle, meta }: PassedFile): JobFile => {
  const file = files[passes]?.file;
  if (file === undefined) throw new ServiceError('INTERNAL_ERROR', 'A node has handed on a file that it did not get');
  const { handle: _, ...rest } = file;
  const known = meta === undefined ? {} : { meta: { ...file.meta, ...meta } };
  return { ...rest, ...known, ...(handle === undefined ? {} : { handle }) };
};

/** What `runInWorker` tells of its way. */
export interface RunHooks {
  /** All files are there; resolves when a worker is free, and rejects when the unit is not to run after all. */
  begin(): Promise<void>;
  tell(notice: WorkerNotice): void;
  /** The worker is free again. */
  computed(): void;
}

/**
 * Runs the unit in a worker and publishes the results under keys that only depend on their content, so that a second
 * run after a crash lands on the same ones. The scratch folder is gone when it settles.
 */
export const runInWorker = async (
  deps: EngineDeps,
  session: Session,
  unit: Unit,
  outer: AbortSignal,
  { begin, tell, computed }: RunHooks,
): Promise<Delivery> => {
  const [head = ''] = unit.chains[0] ?? [];
  const files = inputFiles(session.flow, session.job, head);
  const name = `${session.job.id}-${head}-${deps.clock.newId()}`;
  return deps.scratch.within(name, outer, async (directory, signal) => {
    const task = await prepare(deps, session, unit, files, directory);
    await begin();
    const outputs = await deps.workerPool.run(task, signal, tell).finally(computed);
    return publishAll(deps, session, unit, files, outputs, signal);
  });
};

const prepare = async (
  deps: EngineDeps,
  session: Session,
  unit: Unit,
  files: readonly InputFile[],
  directory: string,
): Promise<WorkerTask> => {
  const values = templateValues(session.flow, session.job);
  const head = session.flow.nodes[unit.chains[0]?.[0] ?? ''];
  const assets = await materializeAssets(deps, session.job.storageId, head, values, directory);
  return {
    chains: unit.chains.map((chain) =>
      chain.map((nodeId, index) => stepOf(deps, session, nodeId, index < chain.length - 1)),
    ),
    files: [...(await materialize(deps, files, directory)), ...assets],
    directory: join(directory, 'out'),
    limits: deps.limits,
    values,
  };
};

const stepOf = (deps: EngineDeps, { flow }: Session, nodeId: string, isInner: boolean): WorkerStep => {
  const { type: kind = '', options = {} } = flow.nodes[nodeId] ?? {};
  const intermediate = isInner || isBare(flow, nodeId, (id) => deps.kinds[flow.nodes[id]?.type ?? '']);
  return { nodeId, kind, options, intermediate };
};

const materialize = (deps: EngineDeps, files: readonly InputFile[], directory: string) =>
  Promise.all(
    files.map(async ({ file, edge, handle }) => {
      const path = await deps.storage(file.storageId).materialize(file.key, directory);
      const { mimeType, fileName, meta } = file;
      const facts = { ...(meta === undefined ? {} : { meta }), ...(handle === undefined ? {} : { handle }) };
      return { path, mimeType, fileName, edge, ...facts };
    }),
  );

const publishAll = async (
  deps: EngineDeps,
  { job }: Session,
  unit: Unit,
  files: readonly InputFile[],
  outputs: readonly (readonly WorkerOutput[])[],
  signal: AbortSignal,
): Promise<Delivery> => {
  const delivery = new Map<string, readonly JobFile[]>();
  for (const [chain, nodeId] of tailsOf(unit).entries()) {
    const delivered: JobFile[] = [];
    for (const [index, output] of (outputs[chain] ?? []).entries()) {
      signal.throwIfAborted();
      const isMade = 'path' in output;
      delivered.push(isMade ? await publishFile(deps, job, nodeId, index, output) : passedFile(files, output));
    }
    delivery.set(nodeId, delivered);
  }
  return delivery;
};

const publishFile = async (
  deps: EngineDeps,
  job: JobRecord,
  nodeId: string,
  index: number,
  output: MadeFile,
): Promise<JobFile> => {
  const key = `${jobPrefix(job.id)}${nodeId}/${index}-${output.sha256.slice(0, 12)}${extname(output.path)}`;
  await deps.storage(job.storageId).publish(key, output.path);
  const { size, mimeType, meta, handle } = output;
  // A kind may have given the name another, longer extension.
  const fileName = safeFileName(output.fileName, nodeId);
  const way = handle === undefined ? {} : { handle };
  return { key, storageId: job.storageId, size, mimeType, fileName, meta, owned: true, ...way };
};

/** Everything that a job makes lives below it in the data store. */
export const jobPrefix = (jobId: string): string => `jobs/${jobId}/`;
