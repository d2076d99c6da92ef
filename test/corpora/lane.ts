/** One worker child that is given file after file. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../src/domain/errors.ts';
import type { WorkerFile, WorkerOutput, WorkerTask } from '../../src/ports/worker-pool.ts';
import { workerPool } from '../../src/workers/index.ts';
import { type Looked, maxPixels } from './probe.ts';

/** Bytes: what a picture of the largest size may take, with some copies of it. */
export const memoryLimit = 2 * 2 ** 30;

/** Milliseconds for one task. */
export const taskLimit = 120_000;

const plugin = fileURLToPath(new URL('probe.ts', import.meta.url));

const limits = { maxPixels, maxSide: 16_383 };

export type Answer =
  | { readonly outputs: readonly WorkerOutput[] }
  | { readonly code: string; readonly message: string; readonly cause?: unknown };

export const openLane = () => {
  const died: Error[] = [];
  const pool = workerPool({ size: 1, memoryLimit, plugins: [plugin], onError: (error) => died.push(error) });

  const run = async (task: Pick<WorkerTask, 'chains' | 'files' | 'directory'>): Promise<Answer> => {
    const values = { flowId: 'corpora', jobId: 'corpora', params: {} } as unknown as WorkerTask['values'];
    try {
      const chains = await pool.run({ ...task, limits, values }, AbortSignal.timeout(taskLimit));
      return { outputs: chains.flat() };
    } catch (error) {
      if (error instanceof ServiceError) return { code: error.code, message: error.message, cause: error.cause };
      return { code: 'TIMEOUT', message: `Not done within ${taskLimit} ms`, cause: error };
    }
  };

  return {
    run,
    /** Children that died without a task. */
    died,
    /** What sharp alone makes of the file. */
    async look(file: WorkerFile, directory: string): Promise<Looked> {
      const step = { nodeId: 'probe', kind: 'probe', options: {}, intermediate: false };
      const answer = await run({ chains: [[step]], files: [file], directory });
      if ('code' in answer) throw new Error(`sharp itself ends a child: ${answer.code} ${answer.message}`);
      return answer.outputs[0]?.meta as unknown as Looked;
    },
    close: () => pool.close(),
  };
};

export type Lane = ReturnType<typeof openLane>;

/** Bytes that the process has used at most since the last call; 0 when it is gone. */
export const takePeak = async (pid: number): Promise<number> => {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
};
