import fastify from 'fastify';
import t from 'tap';
import { sendError } from '../../src/http/errors.ts';
import { watchMethods } from '../../src/http/methods.ts';

t.test('a path that is there under other methods says which', async (t) => {
  const app = fastify({ exposeHeadRoutes: false });
  t.teardown(() => app.close());
  app.setErrorHandler(sendError);
  app.get('/before', () => 'ok');
  const fill = watchMethods(app);
  app.get('/one', () => 'ok');
  app.delete('/one', () => 'ok');
  app.route({ method: ['POST', 'PUT'], url: '/two/:id', handler: () => 'ok' });
  app.get('/head', { exposeHeadRoute: true }, () => 'ok');
  fill();
  const refused = async (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string) => {
    const { statusCode, headers } = await app.inject({ method, url });
    return `${statusCode} ${headers['allow']}`;
  };
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH'] as const) {
    t.equal(await refused(method, '/one'), '405 GET, DELETE', method);
  }
  t.equal(await refused('GET', '/two/x'), '405 POST, PUT');
  t.equal(await refused('POST', '/head'), '405 GET, HEAD');
  t.equal(await refused('GET', '/one'), '200 undefined');
  t.equal(await refused('HEAD', '/head'), '200 undefined');
  t.equal(await refused('POST', '/before'), '404 undefined', 'routes from before the watch are not known');
  t.equal(await refused('GET', '/three'), '404 undefined');
});

t.test('the method is refused whatever is wrong with the body', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  app.setErrorHandler(sendError);
  app.decorate('refusals', new Set<Promise<void>>());
  const fill = watchMethods(app);
  app.get('/one', () => 'ok');
  fill();
  for (const [type, payload] of [
    ['image/png', 'x'],
    ['application/json', '{'],
    ['application/json', `"${'x'.repeat(2_000_000)}"`],
  ] as const) {
    const answer = await app.inject({ method: 'POST', url: '/one', headers: { 'content-type': type }, payload });
    t.equal(answer.statusCode, 405);
    t.equal(answer.json().code, 'METHOD_NOT_ALLOWED');
  }
});
