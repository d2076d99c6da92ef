/** 405 with `Allow` for paths that exist under other methods (RFC 9110, section 15.5.6). */
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../domain/errors.ts';

const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Watches the routes that are added from now on; the function it gives fills the gaps once all are there. */
export const watchMethods = (app: FastifyInstance): (() => void) => {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set<string>();
    for (const one of [method].flat()) known.add(one);
    methods.set(url, known);
  });
  return () => {
    for (const [url, known] of [...methods]) {
      const missing = all.filter((method) => !known.has(method));
      const allow = [...known].join(', ');
      const handler = () => {
        throw new ServiceError('METHOD_NOT_ALLOWED', undefined, { details: { allow } });
      };
      // At once, before anything can be found wrong with the body.
      if (missing.length > 0) app.route({ method: missing, url, schema: { hide: true }, onRequest: handler, handler });
    }
  };
};
