/** The S3 server of a test file: started once for its process, and stopped after its last test. */
import t from 'tap';
import { type S3Server, startS3Server } from './s3-server.ts';

let server: Promise<S3Server | undefined> | undefined;

/** `undefined` where TEST_SERVICES=embedded and there is none: the test is skipped. */
export const s3Server = (): Promise<S3Server | undefined> => {
  server ??= start();
  return server;
};

const start = async (): Promise<S3Server | undefined> => {
  const started = await startS3Server();
  if (started !== undefined) t.teardown(started.stop);
  return started;
};
