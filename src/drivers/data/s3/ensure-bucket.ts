/** The bucket is made when it is missing, so that no other tool is needed for a start. */
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  type CreateBucketCommandInput,
  HeadBucketCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Ask } from './attempts.ts';
import { isMissing } from './failures.ts';

export interface EnsureBucket {
  readonly client: S3Client;
  readonly bucket: string;
  /** Where AWS shall make it; other servers know one place. */
  readonly region: string | undefined;
  readonly ask: Ask;
}

/** Asks for the bucket, and makes it if there is none. */
export const ensureBucket = ({ client, bucket, region, ask }: EnsureBucket): Promise<void> =>
  ask(async ({ signal }) => {
    try {
      await client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal });
    } catch (error) {
      if (!isMissing(error)) throw error;
      await client.send(new CreateBucketCommand(inputOf(bucket, region)), { abortSignal: signal }).catch(orOwned);
    }
  });

/** `us-east-1` is the place without a name (S3 API, CreateBucket). */
const inputOf = (bucket: string, region: string | undefined): CreateBucketCommandInput =>
  region === undefined || region === 'us-east-1'
    ? { Bucket: bucket }
    : { Bucket: bucket, CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint } };

/** Another replica was faster; servers differ in whether that is an error. */
const orOwned = (error: unknown): void => {
  if ((error as Error).name !== 'BucketAlreadyOwnedByYou') throw error;
};
