/**
 * A real S3 server for tests: the one that the environment names (S3_ENDPOINT with S3_ACCESS_KEY_ID and
 * S3_SECRET_ACCESS_KEY), else Ceph's gateway from Debian's packages, started once for a process and stopped after its
 * last test. `undefined` where TEST_SERVICES=embedded and there is none: the test is skipped.
 */
import t from 'tap';
import { findCeph, keys, startCeph } from './ceph.ts';

export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

let server: Promise<S3Server | undefined> | undefined;

export const s3Server = (): Promise<S3Server | undefined> => {
  server ??= named() ?? start();
  return server;
};

const named = (): Promise<S3Server> | undefined => {
  const { S3_ENDPOINT: endpoint, S3_REGION: region = 'us-east-1', ...env } = process.env;
  if (endpoint === undefined) return undefined;
  const { S3_ACCESS_KEY_ID: accessKeyId = '', S3_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
  return Promise.resolve({ endpoint, region, accessKeyId, secretAccessKey });
};

const start = async (): Promise<S3Server | undefined> => {
  if (!findCeph()) return undefined;
  const ceph = await startCeph();
  t.teardown(ceph.stop);
  return { endpoint: ceph.endpoint, region: 'us-east-1', ...keys };
};
