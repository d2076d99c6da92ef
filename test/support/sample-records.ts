/** Records and events with every required field, for tests to which their content does not matter. */
import type { LoggedEvent } from '../../src/domain/event.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import type { UploadRecord } from '../../src/domain/upload.ts';

const at = '2026-11-20T12:00:00.000Z';

export const sampleUpload = (change: Partial<UploadRecord> = {}): UploadRecord => ({
  id: 'upload-1',
  storageId: 'default',
  key: 'uploads/upload-1',
  offset: 0,
  status: 'created',
  fileName: 'photo.jpg',
  type: 'image/jpeg',
  custom: {},
  createdAt: at,
  updatedAt: at,
  seq: 0,
  ...change,
});

export const sampleJob = (change: Partial<JobRecord> = {}): JobRecord => ({
  id: 'job-1',
  flowId: 'flow-1',
  definitionHash: 'hash-1',
  storageId: 'default',
  status: 'pending',
  tasks: [],
  createdAt: at,
  updatedAt: at,
  runningMs: 0,
  epoch: 0,
  wakes: 0,
  seq: 0,
  ...change,
});

export const sampleEvent = (seq: number): LoggedEvent => ({ type: 'upload_started', seq, timestamp: at });
