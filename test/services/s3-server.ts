/**
 * A real S3 server: the one that the environment names (S3_ENDPOINT with S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY),
 * else Ceph's gateway from Debian's packages.
 */
import { findCeph, keys, startCeph } from './ceph.ts';

export interface S3Connection {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Server extends S3Connection {
  stop(): Promise<void>;
}

/** `undefined` where TEST_SERVICES=embedded and there is none. */
export const startS3Server = async (): Promise<S3Server | undefined> => {
  const { S3_ENDPOINT: endpoint, S3_REGION: region = 'us-east-1', ...env } = process.env;
  if (endpoint !== undefined) {
    const { S3_ACCESS_KEY_ID: accessKeyId = '', S3_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
    return { endpoint, region, accessKeyId, secretAccessKey, stop: async () => {} };
  }
  return findCeph() ? { region, ...keys, ...(await startCeph()) } : undefined;
};
