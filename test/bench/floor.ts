/**
 * The floor: the least that a Node server must do to take a file in. POST makes an empty file, PATCH pipes the body into
 * it at `Upload-Offset`; no checks, no records, no syncs. A program of its own: `node floor.ts <directory>` prints its
 * address.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';

const [directory = '.'] = process.argv.slice(2);

const create = async (response: ServerResponse): Promise<void> => {
  const id = randomUUID();
  await writeFile(join(directory, id), '');
  response.writeHead(201, { location: `/${id}`, 'content-length': 0 }).end();
};

const append = (request: IncomingMessage, response: ServerResponse): void => {
  const start = Number(request.headers['upload-offset']);
  const file = createWriteStream(join(directory, basename(request.url ?? '')), { flags: 'r+', start });
  request.pipe(file).on('finish', () => response.writeHead(200, { 'content-length': 0 }).end());
};

const server = createServer((request, response) => {
  if (request.method === 'PATCH') return append(request, response);
  request.resume().on('end', () => void create(response));
});

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
