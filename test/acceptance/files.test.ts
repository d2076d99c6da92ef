/** Downloads (WIRE 2): ranges, conditions, and headers under which no upload can act in a browser. */
import t from 'tap';
import { startDeployment } from '../support/deployment.ts';
import { exchange, openSocket } from '../support/http-socket.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, uploadClient } from '../support/upload-client.ts';

const service = await startDeployment({
  DATA_DIR: await temporaryDirectory(t),
  FLOWS_DIR: await temporaryDirectory(t),
  WORKERS: '0',
});
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);
const digits = await uploads.upload('0123456789', { fileName: 'digits.txt', type: 'text/plain' });

const get = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${service.url}/api/files/${id}`, { method, headers });

void t.test('the url of a completed upload gives its bytes', async (t) => {
  const response = await fetch(new URL(String(digits.url), service.url));
  t.equal(response.status, 200);
  t.equal(await response.text(), '0123456789');
  t.match(Object.fromEntries(response.headers), {
    'content-type': 'text/plain',
    'content-length': '10',
    'accept-ranges': 'bytes',
    'content-disposition': `inline; filename="digits.txt"; filename*=UTF-8''digits.txt`,
  });
});

void t.test('one range is answered with 206 and its place', async (t) => {
  for (const [range, text, place] of [
    ['bytes=0-4', '01234', '0-4'],
    ['bytes=3-3', '3', '3-3'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=-99', '0123456789', '0-9'],
    ['bytes=8-99', '89', '8-9'],
    ['bytes=0-', '0123456789', '0-9'],
  ] as const) {
    const response = await get(digits.id, { range });
    t.equal(response.status, 206, range);
    t.equal(response.headers.get('content-range'), `bytes ${place}/10`);
    t.equal(response.headers.get('content-length'), String(text.length));
    t.equal(await response.text(), text);
  }
});

void t.test('a range outside the file is 416 and tells the size', async (t) => {
  for (const range of ['bytes=10-', 'bytes=99-100', 'bytes=-0']) {
    const response = await get(digits.id, { range });
    t.equal(response.status, 416, range);
    t.equal(response.headers.get('content-range'), 'bytes */10');
    t.equal(response.headers.get('content-disposition'), null, 'and the error is not offered as the file');
    t.equal(((await response.json()) as ErrorBody).code, 'RANGE_NOT_SATISFIABLE');
  }
});

void t.test('what a server need not understand gets the whole file', async (t) => {
  for (const range of ['bytes=5-2', 'lines=1-2', 'bytes=a-b', 'bytes=-', 'bytes=0-1,4-5', 'bytes 0-1', '']) {
    const response = await get(digits.id, { range });
    t.equal(response.status, 200, range);
    t.equal(await response.text(), '0123456789');
  }
});

void t.test('a client that has the bytes is not sent them again', async (t) => {
  const etag = (await get(digits.id)).headers.get('etag') ?? '';
  const modified = (await get(digits.id)).headers.get('last-modified') ?? '';
  t.match(etag, /^"[^"]+"$/, 'a strong tag');
  const fresh = [
    { 'if-none-match': etag },
    { 'if-none-match': `"other", W/${etag}` },
    { 'if-none-match': '*' },
    { 'if-modified-since': modified },
  ];
  for (const headers of fresh) {
    const response = await get(digits.id, headers);
    t.equal(response.status, 304, JSON.stringify(headers));
    t.equal(await response.text(), '');
    t.equal(response.headers.get('etag'), etag);
  }
  const stale = [
    { 'if-none-match': '"other"' },
    { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
    { 'if-modified-since': 'nonsense' },
    { 'if-none-match': '"other"', 'if-modified-since': modified },
  ];
  for (const headers of stale) t.equal((await get(digits.id, headers)).status, 200, JSON.stringify(headers));
});

void t.test('If-Range gives the range only of the same bytes', async (t) => {
  const { headers } = await get(digits.id);
  const range = 'bytes=0-0';
  for (const same of [headers.get('etag'), headers.get('last-modified')]) {
    t.equal((await get(digits.id, { range, 'if-range': String(same) })).status, 206);
  }
  for (const other of ['"other"', `W/${headers.get('etag')}`, 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    const response = await get(digits.id, { range, 'if-range': other });
    t.equal(response.status, 200, other);
    t.equal(await response.text(), '0123456789');
  }
});

void t.test('HEAD has the headers of GET and no body', async (t) => {
  const ignored = ['date', 'x-request-id', 'connection', 'keep-alive'];
  const shown = (response: Response) =>
    Object.fromEntries([...response.headers].filter(([name]) => !ignored.includes(name)));
  const head = await get(digits.id, {}, 'HEAD');
  t.equal(head.status, 200);
  t.same(shown(head), shown(await get(digits.id)));
  t.equal((await get(digits.id, { range: 'bytes=0-1' }, 'HEAD')).status, 200, 'a range is for GET only');
  t.equal((await get(digits.id, { 'if-none-match': '*' }, 'HEAD')).status, 304);
  t.equal((await get('nope', {}, 'HEAD')).status, 404);

  const http = await openSocket(service.url);
  await http.request('HEAD', `/api/files/${digits.id}`, { connection: 'close' });
  await t.rejects(http.response(), /^the connection ended after "HTTP\/1\.1 200.*\\r\\n\\r\\n"$/, 'no body at all');
});

void t.test('a file of zero bytes is a file', async (t) => {
  const { id } = await uploads.create({ fileName: 'empty', size: 0 });
  const response = await get(id);
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-length'), '0');
  t.equal(await response.text(), '');
  t.equal((await get(id, { range: 'bytes=0-' })).status, 416);
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

void t.test('the bytes decide the type, not the claim', async (t) => {
  const record = await uploads.upload(png, { fileName: 'a.html', type: 'text/html' });
  t.equal(record['detectedType'], 'image/png');
  const { headers } = await get(record.id);
  t.equal(headers.get('content-type'), 'image/png');
  t.match(headers.get('content-disposition'), /^inline;/);
});

void t.test('what could act in a browser is downloaded, never shown', async (t) => {
  const html = '<!doctype html><script>alert(document.domain)</script>';
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  for (const [type, content] of [
    ['text/html', html],
    ['image/svg+xml', svg],
    ['application/xhtml+xml', html],
    ['text/xml', '<?xml version="1.0"?><a/>'],
    ['application/pdf', '%PDF-1.7 x'],
    ['text/javascript', 'alert(1)'],
    ['IMAGE/SVG+XML', svg],
    ['image/png;x=image/svg+xml', svg],
  ] as const) {
    const { id } = await uploads.upload(content, { fileName: 'page', type });
    const { headers } = await get(id);
    t.match(headers.get('content-disposition'), /^attachment;/, type);
  }
  for (const [type, content] of [
    ['image/png', html],
    ['text/plain', html],
    ['', html],
  ] as const) {
    const { id } = await uploads.upload(content, { type });
    t.notMatch((await get(id)).headers.get('content-type'), /html|svg|xml/, `never shown as a page: "${type}"`);
  }
});

void t.test('every file comes with headers that take its rights away', async (t) => {
  for (const headers of [{}, { range: 'bytes=0-1' }, { 'if-none-match': '*' }]) {
    t.match(Object.fromEntries((await get(digits.id, headers)).headers), {
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
    });
  }
});

void t.test('a file without a type, or with one that is none, is octets', async (t) => {
  for (const type of ['', 'nonsense', 'text/html\r\nX-Injected: 1', 'text/plain; charset=\u{1F600}', 'a/b/c']) {
    const { id } = await uploads.upload('hello', { type });
    const response = await get(id);
    t.equal(response.status, 200, JSON.stringify(type));
    t.equal(response.headers.get('content-type'), 'application/octet-stream');
    t.match(response.headers.get('content-disposition'), /^attachment/);
    t.equal(response.headers.get('x-injected'), null);
  }
  const { id } = await uploads.upload('hello', { type: 'text/plain; charset=utf-8' });
  t.equal((await get(id)).headers.get('content-type'), 'text/plain; charset=utf-8');
});

void t.test('names of any script arrive, and hostile ones do no harm', async (t) => {
  for (const [name, ascii, encoded] of [
    ['Grüße 日本.txt', 'Gr__e __.txt', 'Gr%C3%BC%C3%9Fe%20%E6%97%A5%E6%9C%AC.txt'],
    ['a"; filename="evil.exe', 'a_; filename=_evil.exe', 'a_%3B%20filename%3D_evil.exe'],
    ['../../etc/passwd', '_.._etc_passwd', '_.._etc_passwd'],
    ['a\r\nSet-Cookie: x=1', 'aSet-Cookie_ x=1', 'aSet-Cookie_%20x%3D1'],
    ["it's (1)*.txt", "it's (1)_.txt", 'it%27s%20%281%29_.txt'],
    ['photo\u202egnp.exe', 'photognp.exe', 'photognp.exe'],
    ['100%.txt', '100_.txt', '100%25.txt'],
    ['\ud800.txt', '_.txt', '%EF%BF%BD.txt'],
    ['😀'.repeat(100), '__'.repeat(63), '%F0%9F%98%80'.repeat(63)],
  ] as const) {
    const { id, metadata } = await uploads.upload('hello', { fileName: name });
    t.equal(metadata['fileName'], name, 'the record keeps it as it was sent');
    const response = await get(id);
    t.equal(response.status, 200);
    t.equal(response.headers.get('set-cookie'), null);
    const expected = `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
    t.equal(response.headers.get('content-disposition'), expected);
  }
});

void t.test('an upload that is not complete cannot be downloaded', async (t) => {
  const { id } = await uploads.create({ size: 10 });
  await uploads.patch(id, 'hello', { offset: 0 });
  t.equal((await get(id)).status, 404);
});

void t.test('a download that nobody finishes does no harm', async (t) => {
  const { id } = await uploads.upload(Buffer.alloc(8_000_000, 'x'));
  const { host, pathname } = new URL(service.url);
  for (let count = 0; count < 10; count += 1) {
    const http = await openSocket(service.url);
    await http.send(`GET ${pathname}/api/files/${id} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    http.cut();
  }
  t.equal((await exchange(service.url, `GET ${pathname}/api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status, 200);
  t.equal((await uploads.download(id)).length, 8_000_000);
});
