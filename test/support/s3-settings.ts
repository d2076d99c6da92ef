/** Settings of a service whose files are in S3, in a part of a bucket that is its own. */
import { randomUUID } from 'node:crypto';
import type { S3Connection } from '../services/s3-server.ts';

export const s3Settings = ({ endpoint, region, accessKeyId, secretAccessKey }: S3Connection) => ({
  S3_BUCKET: 'sluice-tests',
  S3_PREFIX: `test-${randomUUID()}`,
  S3_ENDPOINT: endpoint,
  S3_REGION: region,
  S3_ACCESS_KEY_ID: accessKeyId,
  S3_SECRET_ACCESS_KEY: secretAccessKey,
});
