/** The servers that are compared over S3, each a process of its own. */
import { type S3Connection, startS3Server } from '../../services/s3-server.ts';
import { s3Settings } from '../../support/s3-settings.ts';
import { nativeRequests, tusRequests } from '../requests.ts';
import { type Server, startProgram, startSluice, withDirectory } from '../servers.ts';

export const s3ServerNames = ['sdk', 'tus', 'sluice'] as const;
export type S3ServerName = (typeof s3ServerNames)[number];

/** Runs `work` over an S3 server of its own, unless the environment names one. */
export const withS3 = async (work: (s3: S3Connection) => Promise<void>): Promise<void> => {
  const s3 = await startS3Server();
  if (s3 === undefined) throw new Error('There is no S3 server, and TEST_SERVICES=embedded');
  try {
    await work(s3);
  } finally {
    await s3.stop();
  }
};

const start = (name: S3ServerName, s3: S3Connection, directory: string): Promise<Server> => {
  const settings = s3Settings(s3);
  if (name === 'sluice') return startSluice({ DATA_DIR: directory, ...settings });
  // What the store of tus puts on the disk goes where the records of the service go.
  const env = { ...settings, TMPDIR: directory };
  return startProgram(`s3/${name}.ts`, directory, name === 'tus' ? tusRequests : nativeRequests, env);
};

/** Runs `work` against a server whose directory is made below `parent`. */
export const withS3Server = <T>(
  name: S3ServerName,
  s3: S3Connection,
  parent: string,
  work: (server: Server) => Promise<T>,
): Promise<T> =>
  withDirectory(parent, async (directory) => {
    const server = await start(name, s3, directory);
    return work(server).finally(() => server.stop());
  });
