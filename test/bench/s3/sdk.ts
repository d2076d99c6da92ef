/**
 * The floor over S3: the least that a Node server must do to make a multipart upload of a body. Parts of 8 MiB are
 * collected and sent by the SDK as they are, two at a time; no records, no second try. `node sdk.ts` prints its address.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { bucket, clientConfig, makeBucket } from './client.ts';

const partSize = 8 * 1_048_576;
const inFlight = 2;
const client = new S3Client(clientConfig);

/** The chunks of each part. */
async function* partsOf(request: IncomingMessage): AsyncGenerator<Buffer[]> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < partSize) continue;
    yield chunks;
    [chunks, bytes] = [[], 0];
  }
  if (bytes > 0) yield chunks;
}

const append = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const place = { Bucket: bucket, Key: `sdk/${basename(request.url ?? '')}` };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
  const send = async (chunks: readonly Buffer[], PartNumber: number) => {
    const ContentLength = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const Body = Readable.from(chunks, { objectMode: false });
    const { ETag } = await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber, ContentLength, Body }));
    return { PartNumber, ETag };
  };
  const parts: ReturnType<typeof send>[] = [];
  for await (const chunks of partsOf(request)) {
    await parts[parts.length - inFlight];
    parts.push(send(chunks, parts.length + 1));
  }
  const MultipartUpload = { Parts: await Promise.all(parts) };
  await client.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload }));
  response.writeHead(200, { 'content-length': 0 }).end();
};

const server = createServer((request, response) => {
  if (request.method === 'PATCH') return void append(request, response);
  const created = () => response.writeHead(201, { location: `/${randomUUID()}`, 'content-length': 0 }).end();
  request.resume().on('end', created);
});

await makeBucket();
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
