/** Continuing a job at an input: with an operation, with the bytes themselves, or with nothing (WIRE 3). */
import type { Readable } from 'node:stream';
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import type { HttpContext } from '../context.ts';
import { contentLength } from '../headers.ts';
import { toOperation } from '../operations.ts';
import { answers, strictObject } from '../schemas/common.ts';
import { jobSchema, resumeSchema } from '../schemas/flow.ts';
import { viewJob } from '../views.ts';

const rawType = 'application/octet-stream';

export const resumeRoute: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  app.addContentTypeParser(rawType, (_request, payload, parsed) => parsed(null, payload));
  app.patch(
    '/api/jobs/:jobId/resume/:nodeId',
    {
      schema: {
        tags: ['flows'],
        summary: 'Continue a job at an input',
        params: strictObject({ jobId: Type.String(), nodeId: Type.String() }),
        body: {
          content: { 'application/json': { schema: resumeSchema }, [rawType]: { schema: {} } },
        },
        response: answers({ 200: jobSchema }),
      },
    },
    async (request) => {
      const { jobId, nodeId } = request.params;
      const target = { jobId, nodeId, clientId: request.clientId };
      const raw = (request.headers['content-type'] ?? '').startsWith(rawType);
      if (raw) {
        const body = { stream: request.body as Readable, length: contentLength(request.headers) };
        return viewJob(context, await context.engine.resume({ ...target, body }));
      }
      const { newData } = (request.body ?? {}) as Static<typeof resumeSchema>;
      const operation = newData === undefined ? {} : { newData: toOperation(newData, 'body.newData') };
      return viewJob(context, await context.engine.resume({ ...target, ...operation }));
    },
  );
  done();
};
