import { ServiceError } from '../domain/errors.ts';
import {
  findTask,
  isHeldBack,
  isTaskSettled,
  type JobFile,
  type JobRecord,
  type TaskRecord,
  withTask,
} from '../domain/job.ts';
import { isSettled } from '../domain/upload.ts';
import { toJobFile } from './inputs.ts';
import type { EngineDeps } from './records.ts';
import type { Session } from './session.ts';

/**
 * Checkpoints every input whose uploads are all complete; the others stay as they are. Throws what ends the job:
 * `UPLOAD_FAILED` for an upload that was deleted or has failed, `UNSUPPORTED_FORMAT` and `FILE_TOO_LARGE` for bytes
 * that are not what the input takes, each with the input's node id in its details.
 */
export const settleInputs = async (deps: EngineDeps, session: Session): Promise<void> => {
  for (const task of session.job.tasks) {
    if (task.uploads === undefined || isTaskSettled(task)) continue;
    const files = await collectFiles(deps, session, task);
    if (files === undefined) {
      if (task.status === 'paused') continue;
      await session.update((job) => ({ value: withTask(job, task.nodeId, { status: 'paused' }) }));
      continue;
    }
    const at = new Date(deps.clock.now()).toISOString();
    const { nodeId } = task;
    const settled = (job: JobRecord) => ({
      value: withTask(job, nodeId, { status: 'completed', attempt: 1, files, startedAt: at, endedAt: at }),
      events: [
        { type: 'node_started' as const, nodeId },
        { type: 'node_completed' as const, nodeId },
      ],
    });
    // Somebody may have stopped the job meanwhile; then it waits with all else. Or the input has got one more file.
    await session.update((job) =>
      isHeldBack(job) || !hasSameUploads(task, findTask(job, nodeId)) ? undefined : settled(job),
    );
  }
};

const hasSameUploads = (one: TaskRecord, other: TaskRecord | undefined): boolean => uploadIds(one) === uploadIds(other);

const uploadIds = (task: TaskRecord | undefined): string => (task?.uploads ?? []).map(({ id }) => id).join();

const collectFiles = async (
  deps: EngineDeps,
  session: Session,
  task: TaskRecord,
): Promise<readonly JobFile[] | undefined> => {
  const files: JobFile[] = [];
  for (const { id, owned } of task.uploads ?? []) {
    const upload = (await deps.kvStore.get('uploads', id))?.value;
    if (upload === undefined || upload.status === 'failed' || upload.status === 'cancelled') {
      const message = `Upload ${id} has ended: ${upload?.error?.message ?? 'it is unknown'}`;
      throw new ServiceError('UPLOAD_FAILED', message, { details: { nodeId: task.nodeId } });
    }
    if (!isSettled(upload)) return undefined;
    files.push(toJobFile(session.flow, task.nodeId, upload, owned));
  }
  return files;
};
