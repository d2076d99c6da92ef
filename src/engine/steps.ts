/** What the record and the log say of the nodes of a unit while it runs. */
import type { ServiceEvent } from '../domain/event.ts';
import { findTask, isHeldBack, type JobRecord, type TaskRecord, withTask } from '../domain/job.ts';
import type { WorkerNotice } from '../ports/worker-pool.ts';
import type { EngineDeps } from './records.ts';
import { HoldEnded, type Session } from './session.ts';
import { headsOf, tailsOf, type Unit } from './units.ts';

/** Somebody has stopped the job before the unit could begin. */
export class HeldBack extends Error {}

export interface Steps {
  /** Says that the first node has begun, once; nothing may run before that is written. Rejects with `HeldBack`. */
  begin(): Promise<void>;
  /** Hears of the worker; written in the order of hearing. */
  tell(notice: WorkerNotice): void;
  /** Resolves when everything heard is written, or when the hold has ended. */
  settled(): Promise<void>;
  /** The node that has begun last. */
  current(): string;
}

export const createSteps = (deps: EngineDeps, session: Session, unit: Unit): Steps => {
  const [first = ''] = headsOf(unit);
  const tails = new Set(tailsOf(unit));
  let current = first;
  let begun: Promise<void> | undefined;
  let written: Promise<unknown> = Promise.resolve();

  const start = (nodeId: string, at: number, isFirst: boolean): Promise<boolean> => {
    current = nodeId;
    // What waited for a worker begins no more once the job is stopped; what runs in one comes to its end.
    return session.update((job) =>
      isFirst && isHeldBack(job)
        ? undefined
        : { value: started(job, nodeId, at), events: [{ type: 'node_started', nodeId }] },
    );
  };
  const startFirst = async (): Promise<void> => {
    if (!(await start(first, deps.clock.now(), true))) throw new HeldBack();
  };
  const write = (notice: WorkerNotice): Promise<unknown> | undefined => {
    const { nodeId } = notice;
    if (notice.type === 'progress') {
      const { progress } = notice;
      return session.update((job) => ({ value: withTask(job, nodeId, { progress }), progress: { nodeId } }));
    }
    // The first node has begun with the unit, and the last of a chain is done when its files are saved.
    if (notice.type === 'started') return nodeId === first ? undefined : start(nodeId, notice.at, false);
    return tails.has(nodeId) ? undefined : session.update((job) => endedInside(job, nodeId, notice.at));
  };
  return {
    begin: () => {
      begun ??= startFirst();
      return begun;
    },
    tell: (notice) => {
      written = written
        .then(() => write(notice))
        .catch((error: unknown) => {
          // The end of the hold is told by the session's signal.
          if (!(error instanceof HoldEnded)) deps.onError(error, { jobId: session.job.id, nodeId: notice.nodeId });
        });
    },
    settled: async () => void (await written),
    current: () => current,
  };
};

const started = (job: JobRecord, nodeId: string, at: number): JobRecord => {
  const task = findTask(job, nodeId);
  const { retryAt: _, error: __, ...rest } = task ?? ({ nodeId, attempt: 0 } as TaskRecord);
  const begun: TaskRecord = { ...rest, status: 'running', attempt: rest.attempt + 1, startedAt: iso(at) };
  return { ...job, tasks: job.tasks.map((one) => (one.nodeId === nodeId ? begun : one)) };
};

const endedInside = (job: JobRecord, nodeId: string, at: number) => ({
  value: withTask(job, nodeId, { status: 'completed', unsaved: true, endedAt: iso(at) }),
  events: [{ type: 'node_completed', nodeId } as ServiceEvent],
});

const iso = (at: number): string => new Date(at).toISOString();
