import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
export const consoleRoutes: FastifyPluginCallbackTypebox = (_app, _options, done) => done();
