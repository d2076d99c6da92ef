/** Addresses of objects for those who have no key to the bucket. They are signed here: nobody is asked. */
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { PresignOptions } from '../../../ports/data-store.ts';
import { type Connection, createClient } from './client.ts';

export interface PresignConnection extends Connection {
  /** The server as clients reach it; default: `endpoint`. */
  readonly publicEndpoint?: string | undefined;
}

export interface Presigner {
  presign(name: string, options: PresignOptions): Promise<string>;
  close(): void;
}

export const createPresigner = (connection: PresignConnection, bucket: string): Presigner => {
  const client = createClient({ ...connection, endpoint: connection.publicEndpoint ?? connection.endpoint });
  return {
    presign(name, { expiresIn, contentType, contentDisposition }) {
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: name,
        ResponseContentType: contentType,
        ResponseContentDisposition: contentDisposition,
        ResponseCacheControl: 'private, no-cache',
      });
      return getSignedUrl(client, command, { expiresIn });
    },
    close: () => client.destroy(),
  };
};
