/** The proxy itself, between a client and a server that remembers what it gets. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { quiet, until } from '../support/wait.ts';
import { startFaultProxy } from './proxy.ts';

/** What one end of a connection has seen. */
const watch = (socket: Socket) => {
  const seen = { text: '', pieces: 0, ended: false, error: '' };
  socket.on('data', (data) => {
    seen.text += data;
    seen.pieces += 1;
  });
  socket.on('end', () => {
    seen.ended = true;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    seen.error = error.code ?? '';
  });
  return seen;
};

const openBoth = async (t: Test) => {
  // Those that a test does not look at may be reset too.
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startFaultProxy(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`);
  const open = () => {
    const socket = connect({ port: Number(new URL(proxy.url).port), host: '127.0.0.1', allowHalfOpen: true });
    t.teardown(() => socket.destroy());
    return socket;
  };
  const client = open();
  const [service] = (await once(server, 'connection')) as [Socket];
  t.teardown(() => {
    service.destroy();
    server.close();
  });
  return { proxy, open, client, service, atClient: watch(client), atService: watch(service) };
};

void t.test('passes everything on when nothing is set, ends included', async (t) => {
  const { proxy, client, service, atClient, atService } = await openBoth(t);
  t.match(proxy.url, /^http:\/\/127.0.0.1:\d+\/base$/);
  client.end('question');
  await until(() => atService.ended);
  t.equal(atService.text, 'question');
  service.end('answer');
  await until(() => atClient.ended);
  t.equal(atClient.text, 'answer');
  t.equal(proxy.cuts, 0);
});

void t.test('fin: the service gets so many bytes and then the end, the client nothing more', async (t) => {
  const { proxy, client, service, atClient, atService } = await openBoth(t);
  proxy.set({ after: 5, by: 'fin' });
  client.write('hello world');
  await until(() => atService.ended);
  t.equal(atService.text, 'hello');
  service.end('answer');
  await until(() => atClient.ended);
  t.equal(atClient.text, '');
  t.equal(proxy.cuts, 1);
});

void t.test('rst: both ends are reset, and new connections until the next setting', async (t) => {
  const { proxy, open, client, atClient, atService } = await openBoth(t);
  proxy.set({ after: 5, by: 'rst' });
  client.write('hello world');
  await until(() => atService.error !== '' && atClient.error !== '');
  t.equal(atService.error, 'ECONNRESET');
  t.equal(atClient.error, 'ECONNRESET');
  t.ok('hello'.startsWith(atService.text), atService.text);
  const refused = watch(open());
  await until(() => refused.error === 'ECONNRESET');
  proxy.set({});
  const taken = open();
  watch(taken);
  await once(taken, 'connect');
  taken.write('x');
  await quiet();
  t.equal(taken.destroyed, false);
});

void t.test('before: what the service says is not heard', async (t) => {
  const { proxy, service, atClient, atService } = await openBoth(t);
  proxy.set({ before: 'secret', by: 'rst' });
  service.write('open');
  await until(() => atClient.text === 'open');
  service.write('a secret');
  await until(() => atClient.error !== '' && atService.error !== '');
  t.equal(atClient.text, 'open');
});

void t.test('silence: nothing passes, not even the end, until the next setting', async (t) => {
  const { proxy, client, service, atClient, atService } = await openBoth(t);
  proxy.set({ after: 5, by: 'silence' });
  client.end('hello world');
  await until(() => atService.text === 'hello');
  service.write('answer');
  await quiet();
  t.match(atService, { text: 'hello', ended: false, error: '' });
  t.match(atClient, { text: '', ended: false, error: '' });
  proxy.set({});
  await until(() => atService.ended && atClient.text === 'answer');
  t.equal(atService.text, 'hello world');
});

void t.test('bytes go slowly and in pieces', async (t) => {
  const { proxy, client, atService } = await openBoth(t);
  proxy.set({ pieceLength: 2, bytesPerSecond: 50 });
  const begin = performance.now();
  client.end('hello world');
  await until(() => atService.ended);
  t.equal(atService.text, 'hello world');
  t.equal(atService.pieces, 6);
  t.ok(performance.now() - begin >= 200, 'eleven bytes take a fifth of a second');
});
