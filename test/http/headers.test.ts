import t from 'tap';
import { contentLength, idempotencyKey, requireContentType, wholeNumber } from '../../src/http/headers.ts';

const read = (value: string | undefined) =>
  wholeNumber(value === undefined ? {} : { 'upload-offset': value }, 'upload-offset', 'INVALID_OFFSET');

t.test('a whole number that JSON can carry', (t) => {
  t.equal(read(undefined), undefined);
  for (const [text, value] of [
    ['0', 0],
    ['5', 5],
    ['007', 7],
    ['9007199254740991', 2 ** 53 - 1],
  ] as const) {
    t.equal(read(text), value);
  }
  t.end();
});

t.test('anything else is 400 with the code given and the name of the header', (t) => {
  const texts = [
    '',
    ' ',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    'NaN',
    '5, 5',
    '5,5',
    '9007199254740992',
    '1'.repeat(17),
    '٣',
  ];
  for (const text of texts) {
    const expected = { code: 'INVALID_OFFSET', status: 400, details: { field: 'headers.upload-offset' } };
    t.throws(() => read(text), expected, JSON.stringify(text));
  }
  t.throws(() => wholeNumber({ 'upload-length': 'x' }, 'upload-length', 'VALIDATION_ERROR'), {
    code: 'VALIDATION_ERROR',
    message: 'The header upload-length is not a whole number: x',
  });
  t.end();
});

t.test('a chunked body has no length', (t) => {
  t.equal(contentLength({ 'transfer-encoding': 'chunked' }), undefined);
  t.equal(contentLength({ 'content-length': '12' }), 12);
  t.equal(contentLength({ 'content-length': '0' }), 0);
  t.end();
});

t.test('a type counts without its parameters and in any case', (t) => {
  const accepted = ['application/offset+octet-stream', 'application/octet-stream'];
  for (const type of [
    ...accepted,
    'Application/Octet-Stream',
    'application/octet-stream; x=y',
    ' application/octet-stream ;',
  ]) {
    t.doesNotThrow(() => requireContentType({ 'content-type': type }, accepted), type);
  }
  for (const type of [undefined, '', 'application/json', 'application/octet-streams', 'x application/octet-stream']) {
    const headers = type === undefined ? {} : { 'content-type': type };
    const expected = { code: 'INVALID_CONTENT_TYPE', status: 415, details: { accepted } };
    t.throws(() => requireContentType(headers, accepted), expected, String(type));
  }
  t.end();
});

t.test('an idempotency key comes in the header, in the body, or the same in both', (t) => {
  t.equal(idempotencyKey({}, undefined), undefined);
  t.equal(idempotencyKey({ 'idempotency-key': 'a' }, undefined), 'a');
  t.equal(idempotencyKey({}, 'a'), 'a');
  t.equal(idempotencyKey({ 'idempotency-key': 'a' }, 'a'), 'a');
  const expected = { code: 'VALIDATION_ERROR', details: { field: 'body.idempotencyKey' } };
  t.throws(() => idempotencyKey({ 'idempotency-key': 'a' }, 'A'), expected);
  t.end();
});
