/** How the page is delivered. */
import fastify from 'fastify';
import t, { type Test } from 'tap';
import { consoleRoutes } from '../../../src/http/routes/console.ts';

const serve = async (t: Test, base: string) => {
  const app = fastify();
  t.teardown(() => app.close());
  await app.register((scope) => scope.register(consoleRoutes), { prefix: base });
  return app;
};

t.test('the page, its style, picture and modules', async (t) => {
  const app = await serve(t, '/sluice');
  const page = await app.inject('/sluice/');
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /^default-src 'none'; .*frame-ancestors 'none'/,
  });
  const seen = new Set<string>();
  const queue = [...page.body.matchAll(/(?:src|href)="(console\/[^"]+)"/g)].map(([, path = '']) => path);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const answer = await app.inject(`/sluice/${path}`);
    t.equal(answer.statusCode, 200, path);
    t.match(answer.headers, { 'x-content-type-options': 'nosniff', 'content-type': typeOf(path) });
    queue.push(...[...answer.body.matchAll(/from '\.\/([^']+)'/g)].map(([, name]) => `console/${name}`));
  }
  t.ok(seen.has('console/upload.js'), 'modules that modules import are there');
  t.notMatch(page.body, /<script>|<style>|style=|\son\w+=/, 'nothing inline');
  t.notMatch(page.body, /https?:/, 'nothing from elsewhere');
});

const typeOf = (path: string): RegExp => (path.endsWith('.js') ? /^text\/javascript/ : /^(text\/css|image\/svg)/);

t.test('a copy that the browser has is not sent again', async (t) => {
  const app = await serve(t, '/sluice');
  const { headers, body } = await app.inject('/sluice/console/app.js');
  const etag = String(headers.etag);
  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await app.inject({ url: '/sluice/console/app.js', headers: { 'if-none-match': tags } });
    t.same([again.statusCode, again.body], [304, ''], tags);
  }
  const other = await app.inject({ url: '/sluice/console/app.js', headers: { 'if-none-match': '"other"' } });
  t.equal(other.statusCode, 200);
  const head = await app.inject({ method: 'HEAD', url: '/sluice/console/app.js' });
  t.same([head.statusCode, head.body, head.headers['content-length']], [200, '', String(Buffer.byteLength(body))]);
});

t.test('any base path works', async (t) => {
  for (const [base, target] of [
    ['/sluice', '/sluice/'],
    ['/a/b', '/a/b/'],
  ] as const) {
    const app = await serve(t, base);
    const { statusCode, headers } = await app.inject(base);
    t.equal(statusCode, 302);
    t.equal(new URL(String(headers.location), `http://host${base}`).pathname, target);
    t.equal((await app.inject(target)).statusCode, 200);
  }
  const app = await serve(t, '');
  t.match(await app.inject('/'), { statusCode: 200 }, 'none at all');
});

t.test('reading the modules leaves warnings on', async (t) => {
  const { emitWarning } = process;
  await serve(t, '/sluice');
  t.equal(process.emitWarning, emitWarning);
});
