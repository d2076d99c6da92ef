/** The native dialect of uploads: JSON records, PATCH with or without `Upload-Offset` (WIRE 1). */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { UploadRecord } from '../../../domain/upload.ts';
import type { HttpContext } from '../../context.ts';
import { sendContinue } from '../../continue.ts';
import { delivery } from '../../delivery.ts';
import { contentLength, requireContentType, wholeNumber } from '../../headers.ts';
import { answers, describedHead, strictObject, uploadParams } from '../../schemas/common.ts';
import { capabilitiesSchema, newUploadSchema, uploadSchema } from '../../schemas/upload.ts';
import { viewUpload } from '../../views.ts';

const tags = ['uploads'];
const patchTypes = ['application/offset+octet-stream', 'application/octet-stream'];

/** What HEAD and POST tell in headers. */
const offsetHeaders = (context: HttpContext, upload: UploadRecord): Record<string, string> => ({
  'upload-offset': String(upload.offset),
  'upload-complete': upload.status === 'completed' ? '?1' : '?0',
  'upload-limit': [`max-size=${context.maxUploadSize}`, ...secondsLeft(upload)].join(', '),
  ...(upload.size === undefined ? {} : { 'upload-length': String(upload.size) }),
});

/** For `Upload-Limit` (IETF draft-ietf-httpbis-resumable-upload): whole seconds for which the upload can be continued. */
const secondsLeft = ({ expiresAt }: UploadRecord): readonly string[] => {
  if (expiresAt === undefined) return [];
  return [`max-age=${Math.max(0, Math.floor((Date.parse(expiresAt) - Date.now()) / 1000))}`];
};

export const nativeDialect: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const { uploads, engine, links } = context;

  app.post(
    '/api/upload',
    { schema: { tags, summary: 'Create an upload', body: newUploadSchema, response: answers({ 201: uploadSchema }) } },
    async (request, reply) => {
      const { flow, storageId = 'default', ...fields } = request.body;
      const base = { ...fields, storageId, clientId: request.clientId };
      const upload = flow === undefined ? await uploads.create(base) : await engine.addInput({ ...base, flow });
      reply.code(201).headers({ ...offsetHeaders(context, upload), location: links.upload(upload.id) });
      return viewUpload(context, upload);
    },
  );

  app.get(
    '/api/upload/capabilities',
    {
      schema: {
        tags,
        summary: 'What a storage can do',
        querystring: strictObject({ storageId: Type.Optional(Type.String()) }),
        response: answers({ 200: capabilitiesSchema }),
      },
    },
    async (request) => {
      const { storageId = 'default' } = request.query;
      const { capabilities } = uploads.capabilities(storageId);
      return { storageId, capabilities: { ...capabilities }, timestamp: new Date().toISOString() };
    },
  );

  app.get(
    '/api/upload/:uploadId',
    { schema: { tags, summary: 'Read an upload', params: uploadParams, response: answers({ 200: uploadSchema }) } },
    async (request) => viewUpload(context, await uploads.get(request.params.uploadId, request.clientId)),
  );

  app.head(
    '/api/upload/:uploadId',
    { ...describedHead, schema: { tags, summary: 'Where to continue; stops a running PATCH', params: uploadParams } },
    async (request, reply) => {
      const upload = await uploads.head(request.params.uploadId, request.clientId);
      reply.headers({ ...offsetHeaders(context, upload), 'cache-control': 'no-store' });
      return reply.send();
    },
  );

  app.delete(
    '/api/upload/:uploadId',
    { schema: { tags, summary: 'Delete an upload', params: uploadParams, response: answers({ 204: Type.Null() }) } },
    async (request, reply) => {
      await uploads.remove(request.params.uploadId, request.clientId);
      return reply.code(204).send(null);
    },
  );

  app.register(appendRoute, context);
  done();
};

/** In a context of its own, where no body is parsed: the handler reads the socket. */
const appendRoute: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
  app.patch(
    '/api/upload/:uploadId',
    {
      config: { continues: true },
      schema: {
        tags,
        summary: 'Append bytes',
        description: 'With Upload-Offset a cut body keeps what arrived; without, it counts whole or not at all.',
        consumes: patchTypes,
        params: uploadParams,
        response: answers({ 200: uploadSchema }),
      },
    },
    async (request, reply) => {
      const { headers } = request;
      requireContentType(headers, patchTypes);
      const upload = await context.uploads.append({
        id: request.params.uploadId,
        clientId: request.clientId,
        offset: wholeNumber(headers, 'upload-offset', 'INVALID_OFFSET'),
        uploadLength: wholeNumber(headers, 'upload-length', 'VALIDATION_ERROR'),
        contentLength: contentLength(headers),
        body: request.raw,
        onAccepted: () => sendContinue(request, reply),
        delivered: () => delivery(reply.raw),
      });
      reply.header('upload-offset', String(upload.offset));
      return viewUpload(context, upload);
    },
  );
  done();
};
