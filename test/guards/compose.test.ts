/** `docker-compose.yml` as far as it can be judged by reading it; `test/acceptance/compose.test.ts` does what it says. */
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { Compile } from 'typebox/schema';
import { settings } from '../../src/config/schema.ts';
import { readComposeFile } from '../compose/file.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const compose = readComposeFile();

/** The JSON Schema of the compose specification comes with the linter. */
const specification = Compile(JSON.parse(read('node_modules/dclint/schemas/compose.schema.json')));

t.test('the compose file follows the compose specification', (t) => {
  const [, errors] = specification.Errors(compose);
  t.strictSame(errors, []);
  const { services } = compose;
  const wrong = { ...compose, services: { ...services, s3: { ...services['s3'], healthchek: {} } } };
  t.notOk(specification.Check(wrong), 'a word that it does not know is found');
  t.end();
});

t.test('every service says when it is well, comes back, and is of a version', (t) => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.match(service, { restart: 'unless-stopped', healthcheck: { start_interval: '1s' } }, name);
    if (name !== 'sluice') t.match(service, { image: /:[\w.-]*\d/, healthcheck: { test: ['CMD', String] } }, name);
  }
  t.end();
});

t.test('what a service waits for, and where its data are, exists', (t) => {
  for (const [name, { depends_on: needs = {}, volumes = [] }] of Object.entries(compose.services)) {
    for (const [need, { condition }] of Object.entries(needs)) {
      t.ok(need in compose.services, `${name} waits for ${need}`);
      t.equal(condition, 'service_healthy');
    }
    for (const volume of volumes.filter((one) => one.includes(':'))) {
      const [source = ''] = volume.split(':');
      t.ok(
        source.startsWith('.') ? existsSync(new URL(`../../${source}`, import.meta.url)) : source in compose.volumes,
      );
    }
  }
  t.end();
});

t.test('nginx runs with the configuration that the tests run', (t) => {
  t.strictSame(compose.services['nginx']?.volumes, ['./docs/operate/nginx.conf:/etc/nginx/conf.d/default.conf:ro']);
  t.end();
});

t.test('nothing but nginx is reached from outside', (t) => {
  const open = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
  t.strictSame(
    open.map(([name]) => name),
    ['nginx'],
  );
  t.strictSame(compose.services['nginx']?.ports, ['3000:80'], 'where npm start serves');
  t.end();
});

t.test('the service is given settings that it has, and nothing is asked of .env that they are not', (t) => {
  const names = new Set<string>(Object.values(settings).map(({ name }) => name));
  for (const name of Object.keys(compose.services['sluice']?.environment ?? {})) t.ok(names.has(name), name);
  const asked = [...read('docker-compose.yml').matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
  t.ok(asked.length > 0);
  for (const name of asked) t.ok(names.has(name), name);
  t.end();
});

t.test('another S3 server is named in .env, AWS by nothing', (t) => {
  const { services } = readComposeFile({ S3_ENDPOINT: '', S3_ACCESS_KEY_ID: '', S3_SECRET_ACCESS_KEY: 'mine' });
  t.match(services['sluice']?.environment, { S3_ENDPOINT: '', S3_ACCESS_KEY_ID: '', S3_SECRET_ACCESS_KEY: 'mine' });
  t.match(services['s3']?.environment, { ROOT_ACCESS_KEY: 'sluice', ROOT_SECRET_KEY: 'mine' });
  t.match(services['minio'], { profiles: ['minio'], environment: { MINIO_ROOT_PASSWORD: 'mine' } });
  t.end();
});
