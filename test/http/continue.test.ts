import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import t, { type Test } from 'tap';
import { continueBeforeParsing, sendContinue } from '../../src/http/continue.ts';
import { openSocket } from '../support/http-socket.ts';

const serve = async (t: Test) => {
  const app = fastify();
  continueBeforeParsing(app);
  app.post('/parsed', (request) => request.body);
  app.post('/refused', {
    onRequest: (_request, reply) => void reply.code(403).send({}),
    handler: () => 'unreachable',
  });
  app.post('/itself', {
    config: { continues: true },
    preParsing: (request, reply, payload, done) => {
      if (request.headers['x-wanted'] === 'yes') sendContinue(request, reply);
      else void reply.code(409).send({});
      done(null, payload);
    },
    handler: (request) => request.body,
  });
  await app.ready();
  const handle = (...args: Parameters<typeof app.routing>) => app.routing(...args);
  const server = createServer(handle).on('checkContinue', handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const json = '{"a":1}';
const headers = { 'content-type': 'application/json', 'content-length': json.length };

t.test('a client that waits is told to send its body', async (t) => {
  const url = await serve(t);
  for (const expect of ['100-continue', '100-Continue']) {
    const http = await openSocket(url);
    await http.request('POST', '/parsed', { ...headers, expect });
    t.equal((await http.response()).status, 100);
    await http.send(json);
    t.match(await http.response(), { status: 200, body: json });
    http.cut();
  }
});

t.test('a client that does not wait is told nothing', async (t) => {
  const http = await openSocket(await serve(t));
  await http.request('POST', '/parsed', headers);
  await http.send(json);
  t.equal((await http.response()).status, 200);
  http.cut();
});

t.test('what is refused before the body is refused without it', async (t) => {
  const http = await openSocket(await serve(t));
  await http.request('POST', '/refused', { ...headers, expect: '100-continue' });
  t.equal((await http.response()).status, 403);
  http.cut();
});

t.test('a route that answers itself decides when', async (t) => {
  const url = await serve(t);
  const unwanted = await openSocket(url);
  await unwanted.request('POST', '/itself', { ...headers, expect: '100-continue' });
  t.equal((await unwanted.response()).status, 409);
  unwanted.cut();
  const wanted = await openSocket(url);
  await wanted.request('POST', '/itself', { ...headers, 'x-wanted': 'yes', expect: '100-continue' });
  t.equal((await wanted.response()).status, 100);
  await wanted.send(json);
  t.match(await wanted.response(), { status: 200, body: json });
  wanted.cut();
});
