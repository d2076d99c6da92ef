/** What the contestants know of the S3 server: the settings of the service, as an SDK's client takes them. */
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

const setting = (name: string): string => process.env[name] ?? '';

export const bucket = setting('S3_BUCKET');

/** Checksums are off, as in the service: they would be most of the work. */
export const clientConfig: S3ClientConfig = {
  endpoint: setting('S3_ENDPOINT'),
  region: setting('S3_REGION'),
  credentials: { accessKeyId: setting('S3_ACCESS_KEY_ID'), secretAccessKey: setting('S3_SECRET_ACCESS_KEY') },
  forcePathStyle: true,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
};

/** Makes the bucket, as the service does, where nobody has. */
export const makeBucket = async (): Promise<void> => {
  const client = new S3Client(clientConfig);
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: Error) => {
    if (error.name !== 'BucketAlreadyOwnedByYou') throw error;
  });
  client.destroy();
};
