import { test } from 'tap';
import { errorTable, isErrorCode, ServiceError, toServiceError } from '../../src/domain/errors.ts';

test('every code has a status of an error, a message and a remedy', async (t) => {
  for (const [code, { status, message, remedy }] of Object.entries(errorTable)) {
    t.match(code, /^[A-Z][A-Z_]+$/);
    t.ok(status >= 400 && status < 600, code);
    t.ok(message.length > 0 && remedy.length > 0, code);
  }
});

test('an error takes status and message from the table unless told otherwise', async (t) => {
  const plain = new ServiceError('FILE_NOT_FOUND');
  t.match(plain, {
    name: 'ServiceError',
    code: 'FILE_NOT_FOUND',
    status: 404,
    message: errorTable.FILE_NOT_FOUND.message,
  });
  t.notOk('cause' in plain);
  const cause = new Error('disk');
  const exact = new ServiceError('STORAGE_ERROR', 'No luck', { status: 503, retryAfter: 1, details: { a: 1 }, cause });
  t.match(exact, { status: 503, message: 'No luck', retryAfter: 1, details: { a: 1 } });
  t.equal(exact.cause, cause);
});

test('codes that come from elsewhere are checked against the table', async (t) => {
  t.ok(isErrorCode('TIMEOUT'));
  for (const value of ['NO_SUCH_CODE', 'constructor', 5, undefined]) t.notOk(isErrorCode(value));
});

test('what is no service error becomes the fallback, and keeps its text to itself', async (t) => {
  const known = new ServiceError('TIMEOUT');
  t.equal(toServiceError(known), known);
  const unknown = toServiceError(new Error('password is 123'), 'STORAGE_ERROR');
  t.equal(unknown.code, 'STORAGE_ERROR');
  t.notMatch(unknown.message, /123/);
  t.match(unknown.cause, { message: 'password is 123' });
  t.equal(toServiceError('text').code, 'INTERNAL_ERROR');
});
