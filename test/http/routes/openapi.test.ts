import t, { type Test } from 'tap';
import { call } from '../../support/api.ts';
import { type InProcessOptions, serviceInProcess } from '../../support/service-in-process.ts';

const start = async (t: Test, options: InProcessOptions = {}): Promise<string> => {
  const service = await serviceInProcess(options);
  t.teardown(() => service.close());
  return service.url;
};

t.test('the description of the API is OpenAPI 3.1 and names what clients can do', async (t) => {
  const { status, body } = await call(await start(t), 'GET', '/api/openapi.json');
  t.equal(status, 200);
  t.match(body.openapi, /^3\.1\./);
  const paths = body.paths as Record<string, Record<string, { responses: Record<string, unknown> }>>;
  const upload = paths['/sluice/api/upload/{uploadId}'] ?? {};
  t.strictSame(Object.keys(upload).sort(), ['delete', 'get', 'head', 'patch'], 'and no method that is refused');
  t.strictSame(Object.keys(paths['/sluice/api/upload'] ?? {}), ['post']);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      t.ok(Object.keys(responses).length > 0, `${method} ${path}`);
      t.notOk('405' in responses);
    }
  }
});

t.test('its page is there when it is switched on', async (t) => {
  const off = await start(t);
  t.equal((await fetch(`${off}/api/docs`)).status, 404);
  const on = await start(t, { docs: true });
  const page = await fetch(`${on}/api/docs`);
  t.equal(page.status, 200);
  t.match(page.headers.get('content-type'), 'text/html');
  t.match(await page.text(), /swagger/i);
});
