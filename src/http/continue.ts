/**
 * `Expect: 100-continue` (RFC 9110, section 10.1.1): the client is told to send its body only once nothing speaks
 * against it. The host's server must pass `checkContinue` to the service's handler.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler itself answers `Expect`, after checks of its own. */
    continues?: boolean;
  }
}

export const sendContinue = (request: FastifyRequest, reply: FastifyReply): void => {
  if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
};

/** For every route that does not do it itself, before its body is parsed. */
export const continueBeforeParsing = (app: FastifyInstance): void => {
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.routeOptions.config.continues !== true) sendContinue(request, reply);
    done();
  });
};
