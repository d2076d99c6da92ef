/** What a worker child runs: one task at a time, found in the registry of kinds by its name. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { type ErrorCode, ServiceError, toServiceError } from '../domain/errors.ts';
import { kinds } from '../nodes/index.ts';
import type { NodeKinds, NodeOutput } from '../ports/node.ts';
import type { WorkerOutput, WorkerTask } from '../ports/worker-pool.ts';

/** An error as it crosses the process boundary. */
export interface WorkerFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Record<string, unknown>;
  /** What was thrown first, for the log. */
  readonly cause?: string;
}

/** The answer to a task. The fields of errors that `Error` does not know would not survive being thrown. */
export type WorkerAnswer = { readonly outputs: readonly WorkerOutput[] } | { readonly failure: WorkerFailure };

/** Sent as a task begins: which child to watch, and to wait for. */
export interface WorkerBegin {
  readonly pid: number;
}

/** Bytes per read while hashing. */
const readSize = 1_048_576;

const registry: NodeKinds = kinds;

/** Runs the task; tinypool calls it by its name. */
export const run = async (task: WorkerTask): Promise<WorkerAnswer> => {
  const begin: WorkerBegin = { pid: process.pid };
  process.send?.(begin);
  try {
    return { outputs: await runTask(task) };
  } catch (error) {
    return { failure: failureOf(toServiceError(error)) };
  }
};

const runTask = async ({ kind, ...rest }: WorkerTask): Promise<readonly WorkerOutput[]> => {
  const description = Object.hasOwn(registry, kind) ? registry[kind] : undefined;
  if (description?.run === undefined) throw new ServiceError('INTERNAL_ERROR', `The kind "${kind}" does not run`);
  const outputs: WorkerOutput[] = [];
  for (const output of await description.run(rest)) outputs.push({ ...output, ...(await digest(output)) });
  return outputs;
};

const digest = async ({ path }: NodeOutput): Promise<{ readonly size: number; readonly sha256: string }> => {
  const hash = createHash('sha256');
  const stream = createReadStream(path, { highWaterMark: readSize });
  await pipeline(stream, hash);
  return { size: stream.bytesRead, sha256: hash.digest('hex') };
};

const failureOf = ({ code, message, details, cause }: ServiceError): WorkerFailure => ({
  code,
  message,
  ...(details && { details }),
  ...(cause !== undefined && { cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }),
});

/** Not where a test imports this file, but in a child of the pool. */
if (process.__tinypool_state__?.isChildProcess) {
  // The server and its uploads come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  // Native code goes on for minutes after its process has lost its purpose; nothing gentler ends it.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}
