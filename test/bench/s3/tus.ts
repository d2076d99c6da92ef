/** The peer over S3: `@tus/server` with `@tus/s3-store` and its defaults. `node tus.ts` prints its address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Store } from '@tus/s3-store';
import { Server } from '@tus/server';
import { bucket, clientConfig, makeBucket } from './client.ts';

const datastore = new S3Store({ s3ClientConfig: { ...clientConfig, bucket } });
const tus = new Server({ path: '/files', datastore, relativeLocation: true });
const server = createServer((request, response) => void tus.handle(request, response));

await makeBucket();
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/files\n`);
});
