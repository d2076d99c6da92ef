/** What the tests of a faulty S3 server share: the server, the files, and what it does wrong. */
import { createHash, randomBytes } from 'node:crypto';
import type { DataStore } from '../../src/ports/data-store.ts';
import { s3Server } from '../services/s3.ts';
import type { Action, Operation } from './s3-proxy.ts';

export const mebibyte = 1_048_576;

const server = await s3Server();
/** Why these tests are left out, if they are. */
export const skip = server === undefined ? 'there is no S3 server' : false;
export const there = server ?? { endpoint: '', region: '', accessKeyId: '', secretAccessKey: '' };

/** Gives up sooner than in production, so that it can be watched. */
export const attempts = { tries: 3, idleMs: 1000, completeMs: 1000, delayMs: 10 };

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The sha256 of what the store has. */
export const stored = async (store: DataStore, key: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of await store.read(key)) hash.update(chunk);
  return hash.digest('hex');
};

/** By what it reads like after "the server". */
export const faults: Readonly<Record<string, Action>> = {
  'answers 500': { answer: 500 },
  'answers 503 SlowDown': { answer: 503, code: 'SlowDown' },
  'answers 200 with an error in it': { answer: 200 },
  'does it, and answers 500': { answerAfter: 500 },
  'does it, and answers 200 with an error in it': { answerAfter: 200 },
  'does it, and the answer is lost': { loseAnswer: true },
  'breaks off in the body': { resetAfter: 100_000 },
  'says nothing': { silence: true },
};

/** Two parts. */
export const file = randomBytes(10 * mebibyte);
/** Less than one. */
export const small = file.subarray(0, 500_000);

/** What a PATCH of the whole file asks for. */
export const writing: readonly [Operation, Buffer][] = [
  ['PutObject', small],
  ['CreateMultipartUpload', file],
  ['UploadPart', file],
  ['CompleteMultipartUpload', file],
  ['HeadObject', file],
];
