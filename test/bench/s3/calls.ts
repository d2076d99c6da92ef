/** What an upload that fits into one part asks of the S3 server, counted by a proxy in between. */
import { startS3Proxy } from '../../faults/s3-proxy.ts';
import type { S3Connection } from '../../services/s3-server.ts';
import { openConnection } from '../client.ts';
import { withS3Server } from './servers.ts';

const size = 65_536;

/** Requests for one upload, on average over so many. */
export const countCalls = async (s3: S3Connection, directory: string, uploads: number): Promise<number> => {
  const ends: (() => Promise<void>)[] = [];
  const proxy = await startS3Proxy({ teardown: (end) => ends.push(end) }, s3.endpoint);
  try {
    return await withS3Server('sluice', { ...s3, endpoint: proxy.url }, directory, async ({ url, requests }) => {
      const connection = await openConnection(url);
      proxy.set();
      for (let count = 0; count < uploads; count += 1) {
        const { location } = await connection.request(requests.create(size));
        await connection.request(requests.append(location, 0, size), size);
      }
      connection.close();
      return proxy.operations.length / uploads;
    });
  } finally {
    for (const end of ends) await end();
  }
};
