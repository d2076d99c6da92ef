import fastify, { type FastifyInstance, type LightMyRequestResponse, LogController } from 'fastify';
import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import { sendError, toHttpError } from '../../src/http/errors.ts';

const serve = (t: Test, error: unknown): FastifyInstance => {
  const app = fastify({ genReqId: () => 'request-1' });
  t.teardown(() => app.close());
  app.setErrorHandler(sendError);
  app.get('/', () => {
    throw error;
  });
  return app;
};

const answerTo = (t: Test, error: unknown, accept = '*/*'): Promise<LightMyRequestResponse> =>
  serve(t, error).inject({ url: '/', headers: { accept } });

t.test('an error is its code, its text twice, a time and the id of the request', async (t) => {
  const answer = await answerTo(t, new ServiceError('FILE_NOT_FOUND', 'gone', { details: { id: 'x' } }));
  t.equal(answer.statusCode, 404);
  t.equal(answer.headers['content-type'], 'application/json');
  const { timestamp, ...rest } = answer.json();
  t.strictSame(rest, {
    error: 'gone',
    code: 'FILE_NOT_FOUND',
    message: 'gone',
    requestId: 'request-1',
    details: { id: 'x' },
  });
  t.equal(new Date(timestamp).toISOString(), timestamp);
});

t.test('without details there is no such member', async (t) => {
  t.notOk('details' in (await answerTo(t, new ServiceError('FILE_NOT_FOUND'))).json());
});

t.test('problem+json when it is asked for, with title and status', async (t) => {
  for (const accept of ['application/problem+json', 'application/json, application/problem+json;q=0.9']) {
    const answer = await answerTo(t, new ServiceError('FILE_NOT_FOUND', 'gone'), accept);
    t.equal(answer.headers['content-type'], 'application/problem+json');
    t.match(answer.json(), { title: 'gone', status: 404, error: 'gone', code: 'FILE_NOT_FOUND' });
  }
  t.notOk('title' in (await answerTo(t, new ServiceError('FILE_NOT_FOUND'), 'application/json')).json());
});

t.test('a wrong offset is told in headers and at the top of the body', async (t) => {
  const details = { 'expected-offset': 5, 'provided-offset': 3 };
  const answer = await answerTo(t, new ServiceError('INVALID_OFFSET', undefined, { details }));
  t.equal(answer.statusCode, 409);
  t.match(answer.headers, { 'upload-offset': '5', 'upload-complete': '?0' });
  t.match(answer.json(), { ...details, details });
  const zero = await answerTo(t, new ServiceError('INVALID_OFFSET', undefined, { details: { 'expected-offset': 0 } }));
  t.equal(zero.headers['upload-offset'], '0');
  const malformed = new ServiceError('INVALID_OFFSET', undefined, { status: 400, details: { field: 'x' } });
  t.equal((await answerTo(t, malformed)).headers['upload-offset'], undefined);
});

t.test('details that are headers become headers', async (t) => {
  const range = new ServiceError('RANGE_NOT_SATISFIABLE', undefined, { details: { contentRange: 'bytes */5' } });
  t.equal((await answerTo(t, range)).headers['content-range'], 'bytes */5');
  const method = new ServiceError('METHOD_NOT_ALLOWED', undefined, { details: { allow: 'GET' } });
  t.equal((await answerTo(t, method)).headers['allow'], 'GET');
});

t.test('a 503 always says when to come again', async (t) => {
  t.equal(
    (await answerTo(t, new ServiceError('UNAVAILABLE', undefined, { retryAfter: 7 }))).headers['retry-after'],
    '7',
  );
  t.equal((await answerTo(t, new ServiceError('UNAVAILABLE'))).headers['retry-after'], '1');
  t.equal((await answerTo(t, new ServiceError('INTERNAL_ERROR'))).headers['retry-after'], undefined);
});

t.test('what nobody foresaw is 500 and keeps its text to itself', async (t) => {
  for (const error of [new Error('password is 123'), 'password is 123', { message: 'password is 123' }]) {
    const answer = await answerTo(t, error);
    t.equal(answer.statusCode, 500);
    t.equal(answer.json().code, 'INTERNAL_ERROR');
    t.notMatch(answer.body, '123');
  }
});

const frameworkError = (code: string, statusCode: number) => Object.assign(new Error('text'), { code, statusCode });

t.test("the framework's errors are errors of the table", (t) => {
  for (const [code, statusCode, expected, status] of [
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 415, 'INVALID_CONTENT_TYPE', 415],
    ['FST_ERR_CTP_BODY_TOO_LARGE', 413, 'FILE_TOO_LARGE', 413],
    ['FST_ERR_CTP_INVALID_JSON_BODY', 400, 'VALIDATION_ERROR', 400],
    ['FST_ERR_BAD_URL', 400, 'VALIDATION_ERROR', 400],
    ['FST_ERR_MAX_PARAM_LENGTH', 414, 'VALIDATION_ERROR', 400],
    ['FST_ERR_SOMETHING', 418, 'VALIDATION_ERROR', 400],
    ['FST_ERR_SOMETHING', 500, 'INTERNAL_ERROR', 500],
    ['constructor', 500, 'INTERNAL_ERROR', 500],
  ] as const) {
    t.match(toHttpError(frameworkError(code, statusCode)), { code: expected, status }, code);
  }
  const known = new ServiceError('UPLOAD_LOCKED');
  t.equal(toHttpError(known), known);
  for (const nothing of [null, undefined, 0]) t.equal(toHttpError(nothing).code, 'INTERNAL_ERROR');
  t.end();
});

t.test('every invalid field is named with its place', async (t) => {
  const app = fastify({ ajv: { customOptions: { allErrors: true, removeAdditional: false, coerceTypes: false } } });
  t.teardown(() => app.close());
  app.setErrorHandler(sendError);
  const inner = { type: 'object', properties: { b: { type: 'integer' } }, required: ['c'] };
  const body = { type: 'object', properties: { a: inner }, additionalProperties: false };
  app.post('/', { schema: { body } }, () => 'ok');
  const answer = await app.inject({ method: 'POST', url: '/', payload: { a: { b: 'x' }, d: 1 } });
  t.equal(answer.statusCode, 400);
  const { code, message, details } = answer.json();
  t.equal(code, 'VALIDATION_ERROR');
  t.strictSame(details.problems.map(({ field }: { field: string }) => field).sort(), [
    'body.a.b',
    'body.a.c',
    'body.d',
  ]);
  t.equal(details.field, details.problems[0].field);
  t.match(message, 'body.d is not a known field');
});

t.test('the log hears of what is ours to look into, with its cause', async (t) => {
  const logged: unknown[][] = [];
  const logger = Object.assign(Object.create(null), {
    error: (...args: unknown[]) => logged.push(args),
    level: 'error',
    child: () => logger,
  });
  for (const level of ['fatal', 'warn', 'info', 'debug', 'trace', 'silent']) logger[level] = () => {};
  const app = fastify({ loggerInstance: logger, logController: new LogController({ disableRequestLogging: true }) });
  t.teardown(() => app.close());
  app.setErrorHandler(sendError);
  const cause = new Error('disk');
  const errors = [
    new ServiceError('FILE_NOT_FOUND', undefined, { cause }),
    new ServiceError('UNAVAILABLE', 'The body ended early'),
    new ServiceError('UNAVAILABLE', undefined, { cause }),
    new ServiceError('STORAGE_ERROR', undefined, { cause }),
    cause,
  ];
  app.get('/:index', (request) => {
    throw errors[Number((request.params as { index: string }).index)];
  });
  for (const index of errors.keys()) await app.inject(`/${index}`);
  t.equal(logged.length, 3);
  for (const [fields] of logged) t.equal((fields as { err: unknown }).err, cause);
});
