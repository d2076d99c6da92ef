/** The bytes of completed uploads and of job outputs (WIRE 2). */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { ServiceError } from '../../domain/errors.ts';
import { anyone, type Reader } from '../../domain/reader.ts';
import type { StoredFile } from '../../uploads/read.ts';
import type { HttpContext } from '../context.ts';
import { contentDisposition } from '../disposition.ts';
import { parseRange, type Range } from '../range.ts';
import { answers, describedHead, strictObject } from '../schemas/common.ts';
import type { SignedQuery } from '../signed-files.ts';

/** An upload's own id, or a job's id, a dot and the key of an output. */
const findFile = async (context: HttpContext, fileId: string, reader: Reader): Promise<StoredFile> => {
  const dot = fileId.indexOf('.');
  if (dot < 0) return context.uploads.file(fileId, reader);
  const { job, output, store } = await context.engine.output(fileId.slice(0, dot), fileId.slice(dot + 1), reader);
  return {
    size: output.size,
    mimeType: output.mimeType,
    fileName: output.fileName,
    // The key ends with the content's hash.
    version: output.key.split('/').at(-1) ?? output.key,
    createdAt: job.endedAt ?? job.updatedAt,
    store,
    key: output.key,
  };
};

/** The type of a file as a header: what a client has declared may be none. */
const contentType = (mimeType: string): string =>
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;[\t\x20-\x7e]*)?$/.test(mimeType)
    ? mimeType
    : 'application/octet-stream';

const fileHeaders = (file: StoredFile, etag: string) => ({
  'accept-ranges': 'bytes',
  etag,
  'last-modified': new Date(file.createdAt).toUTCString(),
  'content-type': contentType(file.mimeType),
  'content-disposition': contentDisposition(file.fileName, contentType(file.mimeType)),
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-cache',
});

/** The client has these bytes already (RFC 9110, section 13.2.2: the tag decides where there is one). */
const isFresh = ({ headers }: FastifyRequest, etag: string, createdAt: string): boolean => {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return tags === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return since >= Math.floor(Date.parse(createdAt) / 1000) * 1000;
};

/** A range only counts for GET (RFC 9110, section 14.2), and when `If-Range` names these bytes. */
const rangeOf = ({ headers, method }: FastifyRequest, etag: string, file: StoredFile): Range | undefined => {
  const condition = headers['if-range'];
  const holds = condition === undefined || condition === etag || condition === new Date(file.createdAt).toUTCString();
  return holds && method === 'GET' ? parseRange(headers.range, file.size) : undefined;
};

/** A client reads its own files; where addresses are signed, whoever has one reads that file, and nobody else without. */
const readerOf = ({ files }: HttpContext, request: FastifyRequest, fileId: string): Reader => {
  const query = request.query as SignedQuery;
  if (files.signed === undefined || (request.clientId !== undefined && query.signature === undefined)) {
    return request.clientId;
  }
  if (query.signature === undefined) throw new ServiceError('UNAUTHORIZED', 'The address of a file must be signed');
  if (files.signed.holds(fileId, query)) return anyone;
  throw new ServiceError('FORBIDDEN', 'The address has expired, or it is not as the service has given it');
};

/** Where the store itself has the file, if clients are to get it from there. */
const addressAtStore = (
  { files: { redirectFor } }: HttpContext,
  { store, key, size }: StoredFile,
  headers: ReturnType<typeof fileHeaders>,
): Promise<string> | undefined => {
  if (redirectFor === undefined || size === 0) return undefined;
  const { 'content-type': contentType, 'content-disposition': contentDisposition } = headers;
  return store.presign?.(key, { expiresIn: redirectFor, contentType, contentDisposition });
};

const sendFile = async (
  context: HttpContext,
  file: StoredFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const etag = `"${file.version}"`;
  const headers = fileHeaders(file, etag);
  if (isFresh(request, etag, file.createdAt)) return reply.code(304).headers(headers).send();
  const isHead = request.method === 'HEAD';
  const address = isHead ? undefined : await addressAtStore(context, file, headers);
  if (address !== undefined) return reply.header('cache-control', 'no-store').redirect(address, 302);
  const range = rangeOf(request, etag, file);
  const { start, end } = range ?? { start: 0, end: file.size };
  // Before the headers are set: if there is nothing to open, the error shall not carry them.
  const content = isHead || start === end ? '' : await file.store.read(file.key, { start, end });
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.size}`);
  return reply.headers({ ...headers, 'content-length': String(end - start) }).send(content);
};

const querystring = Type.Object({
  expires: Type.Optional(
    Type.String({ pattern: '^\\d{1,12}$', description: 'When a signed address ends, seconds since 1970' }),
  ),
  signature: Type.Optional(
    Type.String({ maxLength: 64, description: 'Comes with the address where files are signed' }),
  ),
});

export const fileRoutes: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const params = strictObject({ fileId: Type.String({ description: "A file's id" }) });
  const schema = { tags: ['files'], params, querystring };
  const bytes = { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } };
  const elsewhere = { description: 'At the storage itself, where FILES_MODE is redirect', type: 'null' };
  const response = answers({ 200: bytes, 206: bytes, 302: elsewhere });
  const answer = async (
    request: FastifyRequest<{ Params: Static<typeof params> }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { fileId } = request.params;
    const file = await findFile(context, fileId, readerOf(context, request, fileId));
    return sendFile(context, file, request, reply);
  };
  app.get('/api/files/:fileId', { schema: { ...schema, summary: 'Download a file', response } }, answer);
  app.head('/api/files/:fileId', { ...describedHead, schema: { ...schema, summary: 'The headers of a file' } }, answer);
  done();
};
