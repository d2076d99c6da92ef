/** The jobs of a client, page after page (WIRE 3). */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { HttpContext } from '../context.ts';
import { toCursor, toJobFilter } from '../query.ts';
import { answers } from '../schemas/common.ts';
import { jobListQuery, jobListSchema } from '../schemas/flow.ts';
import { viewJob } from '../views.ts';

export const listJobsRoute: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  app.get(
    '/api/jobs',
    {
      schema: {
        tags: ['flows'],
        summary: 'List the jobs, the newest first',
        querystring: jobListQuery,
        response: answers({ 200: jobListSchema }),
      },
    },
    async (request) => {
      const { items, next } = await context.engine.list(toJobFilter(request.query, request.clientId));
      return {
        items: await Promise.all(items.map((job) => viewJob(context, job))),
        ...(next === undefined ? {} : { nextCursor: toCursor(next) }),
      };
    },
  );
  done();
};
