import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fastify from 'fastify';
import t, { type Test } from 'tap';
import { answerWithoutBody, hasUnreadBody } from '../../src/http/unread-body.ts';
import { type HttpSocket, openSocket } from '../support/http-socket.ts';

const requestWith = (headers: Record<string, string>, body = Readable.from([])): IncomingMessage =>
  Object.assign(body, { headers }) as unknown as IncomingMessage;

t.test('a body is unread when it was announced and has not been taken to its end', async (t) => {
  t.equal(hasUnreadBody(requestWith({})), false);
  t.equal(hasUnreadBody(requestWith({ 'content-length': '0' })), false);
  t.equal(hasUnreadBody(requestWith({ 'content-length': '5' })), true);
  t.equal(hasUnreadBody(requestWith({ 'transfer-encoding': 'chunked' })), true);
  const body = Readable.from(['x']);
  await text(body);
  t.equal(hasUnreadBody(requestWith({ 'content-length': '1' }, body)), false);
});

/** A server that refuses every body with 413; `refusals` are those whose connections are still open. */
const serve = async (t: Test) => {
  const app = fastify({ serverFactory: (handler) => createServer(handler), exposeHeadRoutes: false });
  const refusals = new Set<Promise<void>>();
  app.decorate('refusals', refusals);
  app.addHook('onRequest', (request, reply) => {
    reply.header('x-request-id', 'r1');
    answerWithoutBody(request, reply, 413, { 'content-type': 'application/json' }, '{"code":"X"}');
  });
  app.route({ method: ['POST', 'HEAD'], url: '/', handler: () => 'unreachable' });
  await app.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { refusals, open: (deaf = false) => openSocket(`http://127.0.0.1:${port}`, { deaf }) };
};

const post = async (http: HttpSocket, length: number): Promise<void> => {
  await http.request('POST', '/', { 'content-length': length });
};

t.test('the answer goes out whole before a byte of the body has come', async (t) => {
  const { open } = await serve(t);
  const http = await open();
  await post(http, 100);
  const { status, headers, body } = await http.response();
  t.equal(status, 413);
  t.match(headers, { 'x-request-id': 'r1', 'content-type': 'application/json', connection: 'close' });
  t.equal(body, '{"code":"X"}');
  http.cut();
});

t.test('a client that sends its whole body first gets the answer, and the connection is closed after it', async (t) => {
  const { open, refusals } = await serve(t);
  const http = await open(true);
  await post(http, 2_000_000);
  await http.send(Buffer.alloc(2_000_000));
  t.equal((await http.response()).status, 413);
  await http.closed;
  t.equal(refusals.size, 0);
});

t.test('a client that sends without end is cut off', async (t) => {
  const { open } = await serve(t);
  const http = await open();
  await post(http, 2 ** 40);
  t.equal((await http.response()).status, 413);
  let sent = 0;
  const piece = Buffer.alloc(256 * 1024);
  while (http.socket.writable) {
    await http.send(piece);
    sent += piece.length;
  }
  await http.closed;
  t.ok(sent >= 4 * 2 ** 20, `${sent} bytes: a little is thrown away`);
  t.ok(sent < 64 * 2 ** 20, `${sent} bytes: and then no more`);
});

t.test('a client that neither sends nor leaves is cut off after two seconds', async (t) => {
  const { open, refusals } = await serve(t);
  const http = await open();
  const begin = performance.now();
  await post(http, 100);
  await http.response();
  t.equal(refusals.size, 1);
  await Promise.all(refusals);
  const ms = performance.now() - begin;
  t.ok(ms > 1500 && ms < 15_000, `${ms}`);
  await http.closed;
});

t.test('a client that leaves ends it at once', async (t) => {
  const { open, refusals } = await serve(t);
  const http = await open();
  await post(http, 100);
  await http.response();
  const begin = performance.now();
  http.cut();
  await Promise.all(refusals);
  t.ok(performance.now() - begin < 1500);
  t.equal(refusals.size, 0);
});

t.test('HEAD gets the headers only', async (t) => {
  const { open } = await serve(t);
  const http = await open();
  await http.request('HEAD', '/', { 'content-length': 3 });
  await http.send('abc');
  await t.rejects(http.response(), /^the connection ended after "HTTP\/1\.1 413.*\\r\\n\\r\\n"$/);
});
