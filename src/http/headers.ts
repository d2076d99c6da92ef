/** Request headers as numbers and types; the only place that reads them as text. */
import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';

/**
 * A whole number from 0 to 2^53-1 in plain decimal digits, or `undefined` when the header is absent. A repeated header
 * arrives joined with commas and is refused like any other malformed one, with status 400.
 */
export const wholeNumber = (headers: IncomingHttpHeaders, name: string, code: ErrorCode): number | undefined => {
  const text = headers[name];
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(String(text)) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new ServiceError(code, `The header ${name} is not a whole number: ${text}`, {
    status: 400,
    details: { field: `headers.${name}` },
  });
};

/** `Content-Length`, which Node has checked already; absent for chunked bodies. */
export const contentLength = (headers: IncomingHttpHeaders): number | undefined =>
  headers['content-length'] === undefined ? undefined : Number(headers['content-length']);

/**
 * The name that a client has given its request, from the header or from the body; its schemas have been checked.
 * Errors: `VALIDATION_ERROR` when the two differ.
 */
export const idempotencyKey = (headers: IncomingHttpHeaders, inBody: string | undefined): string | undefined => {
  const inHeader = headers['idempotency-key'];
  if (inBody === undefined) return inHeader === undefined ? undefined : String(inHeader);
  if (inHeader === undefined || inHeader === inBody) return inBody;
  throw new ServiceError('VALIDATION_ERROR', 'body.idempotencyKey is not the key of the header idempotency-key', {
    details: { field: 'body.idempotencyKey' },
  });
};

/** Refuses a body of another type than those given; parameters after `;` are ignored. */
export const requireContentType = (headers: IncomingHttpHeaders, accepted: readonly string[]): void => {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (accepted.includes(type)) return;
  throw new ServiceError('INVALID_CONTENT_TYPE', `Content-Type must be ${accepted.join(' or ')}`, {
    details: { field: 'headers.content-type', accepted },
  });
};
