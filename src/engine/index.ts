/**
 * The engine: flows become jobs (`start`), jobs wait for their inputs (`resume`), walk their graph (`run`, one unit's
 * try in `attempt` and `run-node`) and end. The path comes from `uploads/complete` and goes on to a worker in
 * `nodes`, then to the data store; every checkpoint is told through `events/publish`.
 */
import type { Consumer } from '../ports/job-queue.ts';
import { type AddInput, createAddInput } from './add-input.ts';
import { type CancelJob, createCancelJob } from './cancel.ts';
import { createList, type ListJobs } from './list.ts';
import { createPause, type PauseJobs } from './pause.ts';
import { createPlaces } from './places.ts';
import { createReadJobs, type ReadJobs } from './read.ts';
import type { EngineDeps } from './records.ts';
import { createRecoverJobs, type RecoverJobs } from './recover.ts';
import { type AppendBody, createResume, type ResumeJob } from './resume.ts';
import { createRetry, type RetryJob } from './retry.ts';
import { createRun } from './run.ts';
import { createScratch, type ScratchOptions } from './scratch.ts';
import { createSlots } from './slots.ts';
import { createStart, type StartFlow } from './start.ts';
import { createStartOnce, type StartOnce } from './start-once.ts';
import { createWake, type WakeJob } from './wake.ts';

export interface Engine extends ReadJobs, PauseJobs {
  readonly start: StartFlow;
  readonly startOnce: StartOnce;
  readonly list: ListJobs;
  readonly resume: ResumeJob;
  readonly cancel: CancelJob;
  readonly retry: RetryJob;
  readonly wake: WakeJob;
  readonly addInput: AddInput;
  readonly recover: RecoverJobs;
  /** Begins to take jobs from the queue; scratch folders of a former life are removed first. */
  work(): Promise<void>;
  /** Stops the jobs that run here at their last checkpoint and gives them back to the queue. */
  drain(): Promise<void>;
}

/** Idempotency keys, milliseconds: whoever waits for another's start waits longer than a dead one can hold the key. */
const claims = { claimMs: 10_000, patience: 15_000 };

export interface EngineOptions extends Omit<EngineDeps, 'slots' | 'scratchSlots' | 'places' | 'scratch'> {
  readonly append: AppendBody;
  readonly scratch: Omit<ScratchOptions, 'onError'>;
}

export const createEngine = (given: EngineOptions): Engine => {
  const { size } = given.workerPool;
  const deps = {
    ...given,
    scratch: createScratch({ ...given.scratch, onError: given.onError }),
    slots: createSlots(size),
    // While the workers are busy, the files of one more node are made ready.
    scratchSlots: createSlots(size + 1),
    places: createPlaces(given),
  };
  const start = createStart(deps);
  const wake = createWake(deps);
  const run = createRun(deps);
  const shutdown = new AbortController();
  let consumer: Consumer | undefined;
  return {
    start,
    startOnce: createStartOnce({ ...deps, ...claims, start }),
    list: createList(deps),
    resume: createResume({ ...deps, wake }),
    cancel: createCancelJob(deps),
    retry: createRetry({ ...deps, wake }),
    ...createPause({ ...deps, wake }),
    wake,
    addInput: createAddInput(deps),
    recover: createRecoverJobs(deps),
    ...createReadJobs(deps),
    async work() {
      if (deps.workerPool.size === 0) return;
      await deps.scratch.clear();
      // One more job than workers: while one job saves its results, another one computes.
      const options = { concurrency: deps.workerPool.size + 1 };
      consumer = deps.queue.consume(async (queued) => {
        try {
          return await run(queued, shutdown.signal);
        } catch (error) {
          // The queue delivers the entry again; the job goes on from its last checkpoint.
          deps.onError(error, { jobId: queued.jobId });
          throw error;
        }
      }, options);
    },
    async drain() {
      shutdown.abort();
      await consumer?.close();
    },
  };
};
