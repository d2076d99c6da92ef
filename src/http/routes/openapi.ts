/** The description of the API, made from the route schemas, and a page that shows it (behind a setting). */
import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { HttpContext } from '../context.ts';

/** Must come before the routes: it collects their schemas as they are added. */
export const describeApi = (app: FastifyInstance, context: HttpContext): void => {
  app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sluice',
        version: context.version,
        description: 'Resumable uploads in, flows over them, finished files and real-time events out.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: [
        { name: 'uploads', description: 'Resumable uploads' },
        { name: 'files', description: 'Bytes of uploads and outputs' },
        { name: 'flows', description: 'Flows and jobs' },
        { name: 'health', description: 'Probes' },
      ],
    },
  });
};

export const openapiRoute = (app: FastifyInstance, context: HttpContext): void => {
  app.get('/api/openapi.json', { schema: { hide: true } }, () => app.swagger());
  if (context.docs) {
    // Loaded only when it is switched on: it is larger than the service.
    app.register(import('@fastify/swagger-ui'), { routePrefix: '/api/docs' });
  }
};
