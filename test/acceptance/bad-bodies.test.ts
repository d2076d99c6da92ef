/** JSON bodies that are not what was asked for, and the shape of every error (WIRE 7). */
import t, { type Test } from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, uploadClient } from '../support/upload-client.ts';

const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

/** After each test the process is the same, and what was there before is unharmed. */
const test = (title: string, work: (t: Test) => Promise<void>): void =>
  void t.test(title, async (t) => {
    await work(t);
    t.match(await uploads.create({ size: 1 }), { status: 'created' }, 'the service goes on');
    t.notMatch(service.output(), /INTERNAL_ERROR|TypeError|unhandled/i);
  });

const refused = async (t: Test, response: Response, status: number, code: string): Promise<ErrorBody> => {
  const text = await response.text();
  t.equal(response.status, status, text);
  const body = JSON.parse(text) as ErrorBody;
  t.equal(body.code, code);
  return body;
};

test('fields that the contract does not know are refused by name', async (t) => {
  const body = await refused(t, await uploads.post({ size: 1, filename: 'x' }), 400, 'VALIDATION_ERROR');
  t.equal(body.details?.['field'], 'body.filename');
  t.match(body.message, 'body.filename');
  const flow = { flowId: 'a', nodeId: 'b', jobId: 'c', extra: 1 };
  const nested = await refused(t, await uploads.post({ size: 1, flow }), 400, 'VALIDATION_ERROR');
  t.equal(nested.details?.['field'], 'body.flow.extra');
  const run = await fetch(`${service.url}/api/flow/thumbnail/default`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: {} }),
  });
  t.equal((await refused(t, run, 400, 'VALIDATION_ERROR')).details?.['field'], 'body.input');
  const query = await fetch(`${service.url}/api/upload/capabilities?storage=default`);
  t.equal((await refused(t, query, 400, 'VALIDATION_ERROR')).details?.['field'], 'querystring.storage');
});

test('nothing is coerced: a value of another type is refused by name', async (t) => {
  for (const size of ['5', null, true, 1.5, [], {}, -1, 2 ** 53, '']) {
    const body = await refused(t, await uploads.post({ size }), 400, 'VALIDATION_ERROR');
    t.equal(body.details?.['field'], 'body.size', JSON.stringify(size));
  }
  for (const [field, value] of [
    ['fileName', 5],
    ['fileName', null],
    ['fileName', 'x'.repeat(1025)],
    ['type', ['a']],
    ['uploadLengthDeferred', 'true'],
    ['uploadLengthDeferred', 1],
    ['lastModified', '2026'],
    ['checksum', 'abc'],
    ['storageId', 1],
    ['flow', 'x'],
    ['metadata', 5],
    ['metadata', []],
    ['metadata', null],
  ] as const) {
    const body = await refused(t, await uploads.post({ size: 1, [field]: value }), 400, 'VALIDATION_ERROR');
    t.equal(body.details?.['field'], `body.${field}`, JSON.stringify(value));
  }
  const missing = await refused(t, await uploads.post({ fileName: 'x' }), 400, 'VALIDATION_ERROR');
  t.equal(missing.details?.['field'], 'body.size');
  await refused(t, await uploads.post({ size: 1, checksumAlgorithm: 'md5' }), 400, 'UNSUPPORTED_CHECKSUM_ALGORITHM');
  await refused(t, await uploads.post({ size: 1, metadata: 'a b c' }), 400, 'INVALID_METADATA');
});

test('metadata that is nested without end is 400', async (t) => {
  for (const levels of [100, 5000, 30_000]) {
    const text = `{"size":1,"metadata":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    await refused(t, await uploads.post(text), 400, 'INVALID_METADATA');
  }
});

test('keys that could reach a prototype are refused', async (t) => {
  for (const text of [
    '{"size":1,"__proto__":{"size":1}}',
    '{"size":1,"metadata":{"__proto__":{"x":1}}}',
    '{"size":1,"metadata":{"constructor":{"prototype":{"x":1}}}}',
  ]) {
    await refused(t, await uploads.post(text), 400, 'VALIDATION_ERROR');
  }
  const hidden = await uploads.create({ size: 1, metadata: '{"__proto__":{"fileName":"x"},"a":1}' });
  t.equal(hidden.metadata['a'], 1);
  t.equal(hidden.metadata['fileName'], '');
});

test('what is no JSON object is 400', async (t) => {
  for (const text of ['', '{', '{"size":1}}', '"text"', '[]', 'null', '5', '{"size":1,}', '\u0000', '{"size":NaN}']) {
    await refused(t, await uploads.post(text), 400, 'VALIDATION_ERROR');
  }
  const none = await fetch(`${service.url}/api/upload`, { method: 'POST' });
  await refused(t, none, 400, 'VALIDATION_ERROR');
  const invalid = await fetch(`${service.url}/api/upload`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  });
  await refused(t, invalid, 400, 'VALIDATION_ERROR');
});

test('a body over 64 KiB is 413', async (t) => {
  const metadata = { text: 'x'.repeat(65_536) };
  await refused(t, await uploads.post({ size: 1, metadata }), 413, 'FILE_TOO_LARGE');
  t.match(await uploads.create({ size: 1, metadata: { text: 'x'.repeat(60_000) } }), { status: 'created' });
});

test('another type than JSON is 415', async (t) => {
  for (const type of [
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'text/json',
    '/',
  ]) {
    await refused(t, await uploads.post('{"size":1}', { 'content-type': type }), 415, 'INVALID_CONTENT_TYPE');
  }
  t.equal((await uploads.post('{"size":1}', { 'content-type': 'application/json; charset=utf-8' })).status, 201);
});

test('every error has the same shape and carries the id of its request', async (t) => {
  const responses = [
    await fetch(`${service.url}/api/upload/nope`),
    await fetch(`${service.url}/api/nope`),
    await fetch(`${service.url}/api/upload`, { method: 'PUT' }),
    await uploads.post('{'),
    await uploads.post({ size: 'x' }),
    await uploads.patch('nope', 'x', { offset: -1 }),
    await uploads.patch('nope', 'x', { type: 'text/plain' }),
    await fetch(`${service.url}/api/upload/%zz`),
    await fetch(`${service.url}/api/upload/${'x'.repeat(3000)}`),
    await fetch(`${service.url}/ws/upload/x`),
  ];
  for (const response of responses) {
    t.match(response.headers.get('content-type'), /^application\/json/);
    const body = (await response.json()) as ErrorBody;
    t.equal(body.error, body.message);
    t.ok(body.error.length > 0);
    t.match(body.code, /^[A-Z]+(_[A-Z]+)+$/);
    t.equal(new Date(body.timestamp).toISOString(), body.timestamp);
    t.equal(body.requestId, response.headers.get('x-request-id'));
    t.ok(body.requestId.length > 0);
  }
  t.equal(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size, responses.length);
});

test('a client that asks for problem+json gets it, with the same members', async (t) => {
  const headers = { accept: 'application/problem+json' };
  const response = await fetch(`${service.url}/api/upload/nope`, { headers });
  t.match(response.headers.get('content-type'), /^application\/problem\+json/);
  const body = (await response.json()) as ErrorBody;
  t.match(body, { status: 404, title: body.error, code: 'FILE_NOT_FOUND', message: body.error });
});
