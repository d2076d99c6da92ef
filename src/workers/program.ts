/** What a worker child runs: one task at a time, found in the registry of kinds by its name. */
import { createHash } from 'node:crypto';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { type ErrorCode, ServiceError, toServiceError } from '../domain/errors.ts';
import { namesHash } from '../domain/template.ts';
import { type Need, shareDecoding } from '../nodes/image/share.ts';
import { kinds } from '../nodes/index.ts';
import { loadKinds } from '../nodes/plugins/load-kinds.ts';
import type { NodeDescription, NodeKinds, NodeOutput } from '../ports/node.ts';
import { atPlaces, batchesOf, paramsOf } from '../ports/node-options.ts';
import type {
  PassedFile,
  WorkerFile,
  WorkerNotice,
  WorkerOutput,
  WorkerStep,
  WorkerTask,
} from '../ports/worker-pool.ts';

/** An error as it crosses the process boundary. */
export interface WorkerFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Record<string, unknown>;
  /** What was thrown first, for the log. */
  readonly cause?: string;
}

/** The answer to a task. The fields of errors that `Error` does not know would not survive being thrown. */
export type WorkerAnswer =
  | { readonly outputs: readonly (readonly WorkerOutput[])[] }
  | { readonly failure: WorkerFailure };

/** Sent before anything else of a task: which child to watch, and to wait for. */
export interface WorkerBegin {
  readonly type: 'begin';
  readonly pid: number;
}

/** What a child sends beside its answer. */
export type WorkerMessage = WorkerBegin | WorkerNotice;

/** Milliseconds between two notices of progress. */
const progressInterval = 250;

/** For hashing, one file at a time. One buffer for all: new ones, although soon free, have V8 collect all the time. */
const readBuffer = Buffer.allocUnsafeSlow(1_048_576);

/** Not where a test imports this file, but in a child of the pool. */
const isChild = process.__tinypool_state__?.isChildProcess === true;

/** The arguments of a child are the plugins. */
const registry: NodeKinds = await loadKinds(kinds, isChild ? process.argv.slice(2) : []);

const send = (message: WorkerMessage): void => void process.send?.(message);

/** Runs the task; tinypool calls it by its name. */
export const run = async (task: WorkerTask): Promise<WorkerAnswer> => {
  send({ type: 'begin', pid: process.pid });
  try {
    return { outputs: await runTask(task) };
  } catch (error) {
    return { failure: failureOf(toServiceError(error)) };
  }
};

const runTask = async (given: WorkerTask): Promise<readonly (readonly WorkerOutput[])[]> => {
  const task = given.chains.length > 1 ? await withShared(given) : given;
  const outputs: (readonly WorkerOutput[])[] = [];
  for (const [index, chain] of task.chains.entries()) {
    outputs.push(await runChain(task, chain, join(task.directory, String(index))));
  }
  if (task !== given) await rm(join(task.directory, 'shared'), { recursive: true, force: true });
  return outputs;
};

/** Several chains begin with the same files: these are decoded once. */
const withShared = async (task: WorkerTask): Promise<WorkerTask> => {
  const files: WorkerFile[] = [];
  for (const [index, file] of task.files.entries()) {
    const needs = task.chains.flatMap(([step]) => (step === undefined ? [] : needsOf(step, file, task)));
    const directory = join(task.directory, 'shared', String(index));
    await mkdir(directory, { recursive: true });
    const isShared = needs.length === task.chains.length;
    files.push(isShared ? await shareDecoding(file, needs, directory, task.limits) : file);
  }
  return { ...task, files };
};

/** What the step asks of the file; nothing when its options do not fit, which it tells when it runs. */
const needsOf = (step: WorkerStep, file: WorkerFile, { values }: WorkerTask): readonly Need[] => {
  const kind = runnable(step.kind);
  try {
    const [batch] = batchesOf(kind, step, [{ ...file, size: 0 }], values);
    return batch === undefined || kind.shrink === undefined
      ? []
      : [(size) => kind.shrink?.(batch.options, size) ?? size];
  } catch {
    return [];
  }
};

/** What a step was given is removed as soon as it has made its own: bare pixels are large. */
const runChain = async (
  task: WorkerTask,
  chain: readonly WorkerStep[],
  directory: string,
): Promise<readonly WorkerOutput[]> => {
  let { files } = task;
  let made: readonly (NodeOutput | PassedFile)[] = [];
  for (const [index, step] of chain.entries()) {
    made = await runStep(task, step, files, `${directory}-${index}`).catch((error: unknown) => {
      throw atNode(toServiceError(error), step.nodeId);
    });
    if (index > 0) await rm(`${directory}-${index - 1}`, { recursive: true, force: true });
    files = made.filter((output) => 'path' in output);
  }
  const outputs: WorkerOutput[] = [];
  for (const output of made) outputs.push('path' in output ? { ...output, ...(await digest(output)) } : output);
  return outputs;
};

const runStep = async (
  task: WorkerTask,
  step: WorkerStep,
  files: readonly WorkerFile[],
  directory: string,
): Promise<readonly (NodeOutput | PassedFile)[]> => {
  const { nodeId, intermediate } = step;
  send({ type: 'started', nodeId, at: Date.now() });
  const kind = runnable(step.kind);
  const facts = await Promise.all(files.map(withSize));
  const known = namesHash(step.options) ? await withHashes(facts) : facts;
  const batches = batchesOf(kind, step, known, task.values);
  const outputs: (NodeOutput | PassedFile)[] = [];
  const tell = progressOf(nodeId);
  for (const [index, batch] of batches.entries()) {
    // Kinds name what they write after the places of their files.
    const place = batches.length === 1 ? directory : join(directory, String(index));
    await mkdir(place, { recursive: true });
    const { options, files } = batch;
    const progress = (share: number) => tell((index + share) / batches.length);
    const params = paramsOf(task.values);
    const run = { options, files, directory: place, intermediate, limits: task.limits, params, progress };
    outputs.push(...atPlaces(batch, kind.pass?.(options, files, params) ?? (await kind.run?.(run)) ?? []));
  }
  send({ type: 'completed', nodeId, at: Date.now() });
  return outputs;
};

/** Tells now and then; the end is told by the step's. */
const progressOf = (nodeId: string) => {
  let toldAt = Date.now();
  return (progress: number): void => {
    const now = Date.now();
    if (progress >= 1 || now - toldAt < progressInterval) return;
    toldAt = now;
    send({ type: 'progress', nodeId, progress });
  };
};

const withSize = async (file: WorkerFile) => {
  const { size } = await stat(file.path).catch((error: unknown) => {
    throw toServiceError(error, 'STORAGE_ERROR');
  });
  return { ...file, size };
};

/** One after the other, as the buffer is one for all. */
const withHashes = async <File extends WorkerFile>(files: readonly File[]) => {
  const hashed: (File & { readonly hash: string })[] = [];
  for (const file of files) hashed.push({ ...file, hash: (await digest(file)).sha256 });
  return hashed;
};

const runnable = (name: string): NodeDescription => {
  const kind = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (kind?.run !== undefined || kind?.pass !== undefined) return kind;
  throw new ServiceError('INTERNAL_ERROR', `The kind "${name}" does not run`);
};

const atNode = ({ code, message, details, cause }: ServiceError, nodeId: string): ServiceError =>
  new ServiceError(code, message, { details: { ...details, nodeId }, cause });

const digest = async ({ path }: WorkerFile): Promise<{ readonly size: number; readonly sha256: string }> => {
  const hash = createHash('sha256');
  const file = await open(path);
  try {
    for (let size = 0; ; ) {
      const { bytesRead } = await file.read(readBuffer);
      if (bytesRead === 0) return { size, sha256: hash.digest('hex') };
      hash.update(readBuffer.subarray(0, bytesRead));
      size += bytesRead;
    }
  } finally {
    await file.close();
  }
};

const failureOf = ({ code, message, details, cause }: ServiceError): WorkerFailure => ({
  code,
  message,
  ...(details && { details }),
  ...(cause !== undefined && { cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }),
});

if (isChild) {
  // The server and its uploads come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  // Native code goes on for minutes after its process has lost its purpose; nothing gentler ends it.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}
