/**
 * The peer: `@tus/server` with its file store and its defaults over bare `node:http`. A program of its own:
 * `node tus-server.ts <directory>` prints its address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FileStore } from '@tus/file-store';
import { Server } from '@tus/server';

const [directory = '.'] = process.argv.slice(2);

// A relative `Location`, as the other servers answer.
const tus = new Server({ path: '/files', datastore: new FileStore({ directory }), relativeLocation: true });
const server = createServer((request, response) => void tus.handle(request, response));

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/files\n`);
});
