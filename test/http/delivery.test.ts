import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fastify from 'fastify';
import t, { type Test } from 'tap';
import { delivery, watchDeliveries } from '../../src/http/delivery.ts';

/** A server whose answers are given by hand, and a connection to it. */
const setUp = async (t: Test) => {
  const responses: ServerResponse[] = [];
  const app = fastify();
  watchDeliveries(app);
  app.get('/', (_request, reply) => void responses.push(reply.hijack().raw));
  await app.ready();
  const server = createServer((...args) => app.routing(...args));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  await once(client, 'connect');
  const ask = async (): Promise<ServerResponse> => {
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server, 'request');
    return responses.at(-1) as ServerResponse;
  };
  return { client, ask };
};

const answer = async (response: ServerResponse, client: Socket) => {
  response.end('ok');
  await once(client, 'data');
};

t.test('a connection that is closed before the answer is out has not delivered it', async (t) => {
  const { client, ask } = await setUp(t);
  const response = await ask();
  const delivered = delivery(response);
  client.destroy();
  t.equal(await delivered, false);
  t.equal(await delivery(response), false, 'and asked later neither');
});

t.test('a connection that is closed in order after it has', async (t) => {
  const { client, ask } = await setUp(t);
  const response = await ask();
  const delivered = delivery(response);
  await answer(response, client);
  client.end();
  t.equal(await delivered, true);
});

t.test('of one that is reset after it nobody knows, so it has not', async (t) => {
  const { client, ask } = await setUp(t);
  const response = await ask();
  const delivered = delivery(response);
  await answer(response, client);
  client.resetAndDestroy();
  t.equal(await delivered, false);
});

t.test('a request after it has read it, whatever becomes of the connection then', async (t) => {
  const { client, ask } = await setUp(t);
  const response = await ask();
  const delivered = delivery(response);
  await answer(response, client);
  await answer(await ask(), client);
  client.resetAndDestroy();
  t.equal(await delivered, true);
});

t.test('one that did not wait for it says nothing of it', async (t) => {
  const { client, ask } = await setUp(t);
  const first = await ask();
  const delivered = delivery(first);
  const second = await ask();
  await answer(first, client);
  await answer(second, client);
  client.resetAndDestroy();
  t.equal(await delivered, false);
});

t.test('only the last answer of a connection is in doubt', async (t) => {
  const { client, ask } = await setUp(t);
  const results: boolean[] = [];
  for (let count = 0; count < 12; count += 1) {
    const response = await ask();
    void delivery(response).then((delivered) => results.push(delivered));
    await answer(response, client);
  }
  client.resetAndDestroy();
  await once(client, 'close');
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.strictSame(results, [...Array(11).fill(true), false]);
});
