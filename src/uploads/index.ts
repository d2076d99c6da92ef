/**
 * Uploads, step 2 of an upload's path: create, append, complete, read, cancel, expire. The path goes on to `engine/resume`
 * when the last byte of a job's input has come; `service.ts` hands that function in as `tellJob`.
 */
import { type AppendUpload, createAppend } from './append.ts';
import { type CancelUploads, createCancel } from './cancel.ts';
import { createComplete } from './complete.ts';
import { type CreateUpload, createCreateUpload } from './create.ts';
import { createDigests } from './digests.ts';
import { createExpire } from './expire.ts';
import { createFinalize, type FinalizeUpload } from './finalize.ts';
import type { Pace } from './pace.ts';
import { createRead, type ReadUploads } from './read.ts';
import type { UploadDeps } from './records.ts';
import { createRecover, type RecoverUploads } from './recover.ts';
import { createSweep, type SweepStore } from './sweep.ts';

export interface Uploads extends ReadUploads, CancelUploads {
  readonly create: CreateUpload;
  readonly append: AppendUpload;
  readonly finalize: FinalizeUpload;
  readonly recover: RecoverUploads;
  readonly sweep: SweepStore;
  /** Lets running appends commit and answer, and refuses new ones. */
  drain(): Promise<void>;
}

export interface UploadOptions {
  /** Bytes. */
  readonly maxUploadSize: number;
  /** How quickly a body must come. */
  readonly pace: Pace;
  readonly onError: (error: unknown) => void;
}

export const createUploads = (deps: UploadDeps & UploadOptions): Uploads => {
  const owners = deps.kvStore.owners();
  const all = { ...deps, complete: createComplete(deps), owners, digests: createDigests() };
  return {
    create: createCreateUpload(all),
    append: createAppend(all),
    finalize: createFinalize(all),
    recover: createRecover({ ...all, ...createExpire(all) }),
    sweep: createSweep(all),
    ...createRead(all),
    ...createCancel(all),
    drain: () => owners.drain(),
  };
};
