/** The built-in page at `{base}/`: read once at boot, its TypeScript stripped to what browsers run. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';

interface Asset {
  readonly name: string;
  readonly content: string;
}

/** `.ts` in a clone, `.js` in `dist`. */
const extension = extname(import.meta.url);
const modules = new URL('../../console/', import.meta.url);
/** What tsc does not emit: in `src` in both cases. */
const statics = new URL('../../../src/console/', import.meta.url);

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' blob:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export const consoleRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  for (const asset of [...read(statics, ['.html', '.css', '.svg']), ...read(modules, [extension]).map(toBrowser)]) {
    serve(app, asset);
  }
  redirectToSlash(app);
  done();
};

const read = (directory: URL, extensions: readonly string[]): readonly Asset[] =>
  readdirSync(directory)
    .filter((name) => extensions.includes(extname(name)) && !name.endsWith('.d.ts'))
    .map((name) => ({ name, content: readFileSync(new URL(name, directory), 'utf8') }));

const serve = (app: FastifyInstance, { name, content }: Asset): void => {
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const headers = { ...securityHeaders, etag, 'cache-control': 'no-cache', 'content-type': types[extname(name)] };
  app.route({
    method: ['GET', 'HEAD'],
    url: name === 'page.html' ? '/' : `/console/${name}`,
    prefixTrailingSlash: 'slash',
    schema: { hide: true },
    handler: (request, reply) => {
      reply.headers(headers);
      return hasCopy(request, etag) ? reply.code(304).send() : reply.send(content);
    },
  });
};

/** A proxy that compresses makes the tag a weak one. */
const hasCopy = ({ headers }: FastifyRequest, etag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);

/** The page's addresses are relative to `{base}/`; so is this one, for a proxy may have put a prefix before it. */
const redirectToSlash = (app: FastifyInstance): void => {
  const last = app.prefix.split('/').at(-1) ?? '';
  if (last === '') return;
  app.route({
    method: ['GET', 'HEAD'],
    url: '',
    schema: { hide: true },
    handler: (_request, reply) => reply.redirect(`${last}/`),
  });
};

/** A module without types, under the name that browsers ask for; in `dist` it is that already. */
const toBrowser = ({ name, content }: Asset): Asset =>
  extension === '.js' ? { name, content } : { name: name.replace(/ts$/, 'js'), content: strip(content) };

const strip = (source: string): string => {
  const { emitWarning } = process;
  // Node calls the function experimental at its first use, which is nothing that an operator can act on.
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source).replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
  } finally {
    process.emitWarning = emitWarning;
  }
};
