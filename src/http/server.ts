/**
 * HTTP, step 1 of an upload's path: a request arrives, is checked against its schema and handed to a use case of
 * `uploads` or `engine`. One file per resource in `routes`, one folder per upload dialect in `dialects`; records
 * become answers in `views` and `frames`, errors in `errors`.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import fastifyWebsocket from '@fastify/websocket';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import type { Adapter, HttpContext } from './context.ts';
import { continueBeforeParsing } from './continue.ts';
import { watchDeliveries } from './delivery.ts';
import { nativeDialect } from './dialects/native/index.ts';
import { sendError } from './errors.ts';
import { watchMethods } from './methods.ts';
import { consoleRoutes } from './routes/console.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { flowRoutes } from './routes/flow.ts';
import { healthRoutes } from './routes/health.ts';
import { listJobsRoute } from './routes/list-jobs.ts';
import { describeApi, openapiRoute } from './routes/openapi.ts';
import { resumeRoute } from './routes/resume.ts';
import { steerJobRoutes } from './routes/steer-jobs.ts';

export interface FastifyAdapterOptions {
  readonly log?: FastifyBaseLogger;
  /** Serves the built-in page at `{base}/`; default true. */
  readonly console?: boolean;
  /** Serves a page that shows the API at `{base}/api/docs`; default false. */
  readonly docs?: boolean;
}

/** JSON bodies, bytes (WIRE 7). */
const jsonLimit = 64 * 1024;

/** Serves the service with Fastify; see `FastifyAdapterOptions`. */
export const fastifyAdapter = (options: FastifyAdapterOptions = {}): Adapter => ({
  name: 'fastify',
  async create(services) {
    const context: HttpContext = { ...services, docs: options.docs ?? false };
    const app = createApp(options);
    describeApi(app, context);
    await app.register(fastifyWebsocket, {
      options: { maxPayload: 4096, perMessageDeflate: false },
      preClose: closeSockets,
    });
    refuseUnknownPaths(app);
    const refuseOtherMethods = watchMethods(app);
    await app.register(
      (scope, _, done) => {
        const resources = [
          nativeDialect,
          fileRoutes,
          flowRoutes,
          steerJobRoutes,
          listJobsRoute,
          resumeRoute,
          healthRoutes,
          eventRoutes,
        ];
        for (const routes of resources) scope.register(routes, context);
        openapiRoute(scope, context);
        if (options.console ?? true) scope.register(consoleRoutes);
        done();
      },
      { prefix: context.links.base },
    );
    refuseOtherMethods();
    await app.ready();
    return {
      handler: (request, response) => void app.server.emit('request', request, response),
      websocketHandler: (request, socket, head) => void app.server.emit('upgrade', request, socket, head),
      async close() {
        await app.close();
        await Promise.all(app.refusals);
      },
    };
  },
});

/** How long a peer may take to answer a closing handshake, milliseconds. */
const closeMs = 2000;

/** Sockets of peers that are gone do not hold up the end. */
const closeSockets = function (this: FastifyInstance, done: () => void): void {
  const { clients } = this.websocketServer;
  for (const client of clients) client.close(1001, 'the service is shutting down');
  const late = setTimeout(() => {
    for (const client of clients) client.terminate();
  }, closeMs);
  this.websocketServer.close(() => {
    clearTimeout(late);
    done();
  });
};

const createApp = (options: FastifyAdapterOptions): FastifyInstance => {
  const app: FastifyInstance = fastify({
    ...(options.log === undefined ? { logger: false } : { loggerInstance: options.log }),
    // The host owns the listening server; this one only carries Fastify's and ws' listeners.
    serverFactory: (handler) => createServer(handler),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true, useDefaults: false } },
    bodyLimit: jsonLimit,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // What still comes while the service ends is answered like everything else, by whoever can no longer serve it.
    return503OnClosing: false,
    genReqId: requestId,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: refusePath,
  });
  app.decorate('refusals', new Set<Promise<void>>());
  parseJsonOnly(app);
  app.decorateRequest('clientId', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(request, reply.raw.statusCode, reply.elapsedTime);
    done();
  });
  watchDeliveries(app);
  continueBeforeParsing(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendError(new ServiceError('NOT_FOUND'), request, reply));
  return app;
};

/** Answers for paths that the router itself refuses. No hook runs for them, so nobody else would close an upgrade. */
const refusePath = (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
  if (request.headers.upgrade !== undefined) reply.raw.once('finish', () => request.raw.socket.destroySoon());
  sendError(error, request, reply.header('x-request-id', request.id));
};

/** At once, before anything can be found wrong with the body; after the hook of the sockets, which closes upgrades. */
const refuseUnknownPaths = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? new ServiceError('NOT_FOUND') : undefined);
  });
};

/** JSON, in which an empty body counts as an empty object: clients declare the type for requests that need no body. */
const parseJsonOnly = (app: FastifyInstance): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, {});
    else void parseJson(request, String(body), done);
  });
};

/** The client's own id where it can be logged as it is, else a new one. */
const requestId = (request: IncomingMessage): string => {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
};

/** One line per request, without the query: it may carry a token. */
const logResponse = (request: FastifyRequest, status: number, ms: number): void => {
  const line = { method: request.method, path: request.url.split('?')[0], status, ms: Math.round(ms * 10) / 10 };
  if (request.routeOptions.schema?.tags?.includes('health') === true) request.log.debug(line, 'request');
  else request.log.info(line, 'request');
};
