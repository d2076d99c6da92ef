/** The one place where errors become HTTP answers (WIRE 7). */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';
import { answerWithoutBody, hasUnreadBody } from './unread-body.ts';

/** Fastify's own error codes that clients cause. */
const frameworkCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'INVALID_CONTENT_TYPE',
  FST_ERR_CTP_BODY_TOO_LARGE: 'FILE_TOO_LARGE',
  FST_ERR_CTP_INVALID_JSON_BODY: 'VALIDATION_ERROR',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'VALIDATION_ERROR',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'VALIDATION_ERROR',
  FST_ERR_BAD_URL: 'VALIDATION_ERROR',
  FST_ERR_MAX_PARAM_LENGTH: 'VALIDATION_ERROR',
};

/** Any thrown value as a `ServiceError`; what nobody foresaw is `INTERNAL_ERROR`, with its cause for the log only. */
export const toHttpError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  const { code = '', message, statusCode, validation, validationContext } = (error ?? {}) as Partial<FastifyError>;
  if (validation !== undefined) return validationError(validation, validationContext ?? 'body');
  const known = Object.hasOwn(frameworkCodes, code) ? frameworkCodes[code] : undefined;
  if (known !== undefined) return new ServiceError(known, message);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ServiceError('VALIDATION_ERROR', message);
  return new ServiceError('INTERNAL_ERROR', undefined, { cause: error });
};

type Validation = NonNullable<FastifyError['validation']>;

const validationError = (validation: Validation, context: string): ServiceError => {
  const problems = validation.map((problem) => ({
    field: fieldOf(problem, context),
    message: problem.keyword === 'additionalProperties' ? 'is not a known field' : (problem.message ?? 'is not valid'),
  }));
  const text = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new ServiceError('VALIDATION_ERROR', text, { details: { field: problems[0]?.field, problems } });
};

const fieldOf = ({ instancePath, params }: Validation[number], context: string): string => {
  const missing = params['missingProperty'] ?? params['additionalProperty'];
  const path = `${context}${instancePath.replaceAll('/', '.')}`;
  return missing === undefined ? path : `${path}.${String(missing)}`;
};

/** Answers with the error: body, headers, and the connection closed when a body is still on its way. */
export const sendError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
  const known = toHttpError(error);
  if (isFailure(known)) request.log.error({ err: known.cause ?? known, code: known.code }, known.message);
  const problem = /application\/problem\+json/.test(request.headers.accept ?? '');
  const payload = JSON.stringify({
    ...(problem ? { title: known.message, status: known.status } : {}),
    ...offsetMembers(known),
    error: known.message,
    code: known.code,
    message: known.message,
    timestamp: new Date().toISOString(),
    requestId: request.id,
    ...(known.details === undefined ? {} : { details: known.details }),
  });
  const headers = { ...headersOf(known), 'content-type': problem ? 'application/problem+json' : 'application/json' };
  if (hasUnreadBody(request.raw)) answerWithoutBody(request, reply, known.status, headers, payload);
  else reply.code(known.status).headers(headers).serializer(String).send(payload);
};

/** Ours to look into: neither the client's fault nor the plain news that a body was cut off or the service drains. */
const isFailure = ({ status, code, cause }: ServiceError): boolean =>
  status >= 500 && (code !== 'UNAVAILABLE' || cause !== undefined);

/** Extension members of the IETF draft's mismatching-upload-offset problem, at the top of the body. */
const offsetMembers = ({ code, details }: ServiceError): Record<string, unknown> =>
  code === 'INVALID_OFFSET' && details !== undefined ? details : {};

/** Seconds until a client may come again when nothing better is known. */
const defaultRetryAfter = 1;

const headersOf = ({ status, details, retryAfter }: ServiceError): Record<string, string> => {
  const headers: Record<string, string> = {};
  const offset = details?.['expected-offset'];
  if (typeof offset === 'number') {
    headers['upload-offset'] = String(offset);
    headers['upload-complete'] = '?0';
  }
  if (typeof details?.['contentRange'] === 'string') headers['content-range'] = details['contentRange'];
  if (typeof details?.['allow'] === 'string') headers['allow'] = details['allow'];
  if (retryAfter !== undefined || status === 503) headers['retry-after'] = String(retryAfter ?? defaultRetryAfter);
  return headers;
};
