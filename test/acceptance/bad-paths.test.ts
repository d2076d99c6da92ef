/** Paths and headers that no client library sends: through a raw socket. */
import { readdir } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { exchange } from '../support/http-socket.ts';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { patchType, uploadClient } from '../support/upload-client.ts';

const directory = await temporaryDirectory(t);
const service = await startService({ DATA_DIR: `${directory}/data`, WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);
const { host, pathname: base } = new URL(service.url);
const { id } = await uploads.upload('hello');

/** After each test the process is the same, and what was there before is unharmed. */
const test = (title: string, work: (t: Test) => Promise<void>): void =>
  void t.test(title, async (t) => {
    await work(t);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200, 'the service is alive');
    t.equal(String(await uploads.download(id)), 'hello', 'and has lost nothing');
  });

const send = (line: string, ...headers: string[]) =>
  exchange(
    service.url,
    `${[`${line} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`,
  );

const ways = [
  '../../../../etc/passwd',
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f%2e%2e%2fsluice.db',
  '%2e%2e/%2e%2e/sluice.db',
  '..%5c..%5csluice.db',
  '%252e%252e%252fsluice.db',
  `${id}%00`,
  `%00${id}`,
  `${id}%0d%0aX-Injected:%201`,
  `${id}/../${id}x`,
  `.%2f${id}`,
  '..',
  '%zz',
  '%',
  '%c0%ae%c0%ae%c0%af',
  'x'.repeat(5000),
  "'%20OR%201=1--",
];

test('ids that are paths, or no text at all, lead nowhere', async (t) => {
  for (const way of ways) {
    for (const path of [`/api/files/${way}`, `/api/upload/${way}`, `/api/jobs/${way}/status`, `/api/flow/${way}`]) {
      const { status, headers, body } = await send(`GET ${base}${path}`);
      t.ok(status === 404 || status === 400 || status === 414, `${status} ${path.slice(0, 60)}`);
      t.notOk('x-injected' in headers);
      t.notMatch(body, /root:|SQLite format/);
      const { error, code, message, timestamp, requestId } = JSON.parse(body);
      t.equal(error, message);
      t.match(
        { code, timestamp, requestId },
        { code: /^[A-Z_]+$/, timestamp: /Z$/, requestId: headers['x-request-id'] },
      );
    }
  }
});

test('they change nothing either', async (t) => {
  for (const way of ways) {
    const { status } = await send(`DELETE ${base}/api/upload/${way}`);
    t.ok(status === 404 || status === 400 || status === 414, `${status} DELETE ${way.slice(0, 60)}`);
    const type = `Content-Type: ${patchType}`;
    const patch = await send(`PATCH ${base}/api/upload/${way}`, type, 'Upload-Offset: 0', 'Content-Length: 0');
    t.ok(patch.status === 404 || patch.status === 400 || patch.status === 414, `${patch.status} PATCH`);
  }
  t.same(await readdir(directory), ['data'], 'and make no file outside the data directory');
});

test('a line break in a request line or in a header is no way around', async (t) => {
  for (const path of ['/api/files/x\r\nX-Injected: y', '/api/files/x\nX-Injected: y', '/api/files/a b']) {
    const { status, headers } = await send(`GET ${base}${path}`);
    t.ok(status === 400 || status === 404, `${status}`);
    t.notOk('x-injected' in headers);
  }
  t.equal((await exchange(service.url, 'nonsense\r\n\r\n')).status, 400);
  const injected = await send(`GET ${base}/api/health`, 'X-Request-Id: a\x00b');
  t.equal(injected.status, 400);
  const strange = await send(`GET ${base}/api/nope`, 'X-Request-Id: <script>');
  t.match(strange.headers['x-request-id'], /^[\w-]{36}$/, 'an id that cannot be logged as it is gets replaced');
  const given = await send(`GET ${base}/api/nope`, 'X-Request-Id: my-id.1');
  t.equal(given.headers['x-request-id'], 'my-id.1');
});

test('requests that contradict themselves are refused', async (t) => {
  const patch = `PATCH ${base}/api/upload/${id}`;
  const type = `Content-Type: ${patchType}`;
  for (const headers of [
    ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    ['Content-Length: 5', 'Content-Length: 6'],
    ['Content-Length: -1'],
    ['Content-Length: 1e3'],
    ['Transfer-Encoding: gzip'],
  ]) {
    const { status } = await send(patch, type, 'Upload-Offset: 5', ...headers);
    t.equal(status, 400, headers.join(', '));
  }
});

test('headers over the limit are 431', async (t) => {
  t.equal((await send(`GET ${base}/api/health`, `X-Large: ${'x'.repeat(20_000)}`)).status, 431);
});

test('an Upgrade to another protocol than WebSocket is ignored', async (t) => {
  const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
  const line = (method: string, path: string) => `${method} ${base}${path} HTTP/1.1\r\nHost: ${host}\r\n`;
  const get = await exchange(service.url, `${line('GET', '/api/health')}${upgrade.join('\r\n')}\r\n\r\n`);
  t.equal(get.status, 200);
  const body = JSON.stringify({ size: 5 });
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
  const post = await exchange(
    service.url,
    `${line('POST', '/api/upload')}${upgrade.join('\r\n')}\r\n${type}\r\n\r\n${body}`,
  );
  t.equal(post.status, 201);
});
