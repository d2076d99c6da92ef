/** The bytes of completed uploads and of job outputs (WIRE 2). */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { StoredFile } from '../../uploads/read.ts';
import type { HttpContext } from '../context.ts';
import { contentDisposition } from '../disposition.ts';
import { parseRange, type Range } from '../range.ts';
import { answers, describedHead, strictObject } from '../schemas/common.ts';

/** An upload's own id, or a job's id, a dot and the key of an output. */
const findFile = async (context: HttpContext, fileId: string, clientId: string | undefined): Promise<StoredFile> => {
  const dot = fileId.indexOf('.');
  if (dot < 0) return context.uploads.file(fileId, clientId);
  const { job, output, store } = await context.engine.output(fileId.slice(0, dot), fileId.slice(dot + 1), clientId);
  return {
    size: output.size,
    mimeType: output.mimeType,
    fileName: output.fileName,
    // The key ends with the content's hash.
    version: output.key.split('/').at(-1) ?? output.key,
    createdAt: job.endedAt ?? job.updatedAt,
    open: (range) => store.read(output.key, range),
  };
};

/** The type of a file as a header: what a client has declared may be none. */
const contentType = (mimeType: string): string =>
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;[\t\x20-\x7e]*)?$/.test(mimeType)
    ? mimeType
    : 'application/octet-stream';

const fileHeaders = (file: StoredFile, etag: string): Record<string, string> => ({
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

const sendFile = async (file: StoredFile, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const etag = `"${file.version}"`;
  const headers = fileHeaders(file, etag);
  if (isFresh(request, etag, file.createdAt)) return reply.code(304).headers(headers).send();
  const range = rangeOf(request, etag, file);
  const { start, end } = range ?? { start: 0, end: file.size };
  // Before the headers are set: if there is nothing to open, the error shall not carry them.
  const content = request.method === 'HEAD' || start === end ? '' : await file.open({ start, end });
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.size}`);
  return reply.headers({ ...headers, 'content-length': String(end - start) }).send(content);
};

export const fileRoutes: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const schema = { tags: ['files'], params: strictObject({ fileId: Type.String({ description: "A file's id" }) }) };
  const bytes = { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } };
  app.get(
    '/api/files/:fileId',
    { schema: { ...schema, summary: 'Download a file', response: answers({ 200: bytes, 206: bytes }) } },
    async (request, reply) => {
      const file = await findFile(context, request.params.fileId, request.clientId);
      return sendFile(file, request, reply);
    },
  );
  app.head(
    '/api/files/:fileId',
    { ...describedHead, schema: { ...schema, summary: 'The headers of a file' } },
    async (request, reply) => {
      const file = await findFile(context, request.params.fileId, request.clientId);
      return sendFile(file, request, reply);
    },
  );
  done();
};
