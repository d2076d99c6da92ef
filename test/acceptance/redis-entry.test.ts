/** A Redis that lets in only who proves to be right: TLS with certificates of both sides, a user with few rights. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findProgram } from '../services/debian.ts';
import { freePort } from '../services/port.ts';
import { findRedis, startRedis } from '../services/redis.ts';
import { call, ended, patch, startFlow } from '../support/api.ts';
import { openEvents } from '../support/event-socket.ts';
import { makePhoto } from '../support/photo.ts';
import { skip as noRedis } from '../support/redis.ts';
import { runToExit, startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const openssl = findProgram('openssl');
const skip = noRedis || (openssl === undefined && 'no openssl, and TEST_SERVICES=embedded');

const flow = {
  flowId: 'small',
  name: 'Small',
  nodes: { photo: { type: 'file-input' }, small: { type: 'resize', options: { width: 20 } } },
  edges: [{ source: 'photo', target: 'small' }],
};

/** A certificate that has signed itself, for both sides. */
const makeCertificate = (directory: string): { readonly cert: string; readonly key: string } => {
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const names = ['-subj', '/CN=sluice test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-out', cert, '-keyout', key];
  execFileSync(openssl ?? '', ['req', '-x509', ...curve, '-days', '2', ...names, ...files], {
    stdio: 'pipe',
  });
  return { cert, key };
};

/** Speaks TLS on the port that it gives; `ann` may do what docs/replicas.md says that a user needs. */
const startStrict = async (t: Test, { cert, key }: ReturnType<typeof makeCertificate>): Promise<number> => {
  const port = await freePort();
  const tls = ['--tls-port', String(port), '--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  const rights = ['~sluice:*', '&sluice:*', '+@all', '-@dangerous'];
  const user = ['--user', 'ann', 'on', '>p@ss word', ...rights];
  const server = await startRedis(findRedis() ?? '', { options: [...tls, ...user] });
  t.teardown(server.stop);
  return port;
};

t.test('a service enters by TLS and ACL with secrets in files, and jobs run', { skip }, async (t) => {
  const directory = await temporaryDirectory(t);
  const { cert, key } = makeCertificate(directory);
  const port = await startStrict(t, { cert, key });
  const flows = join(directory, 'flows');
  await mkdir(flows);
  await writeFile(join(flows, 'small.json'), JSON.stringify(flow));
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  const entry = {
    REDIS_URL_FILE: await file('url', `rediss://127.0.0.1:${port}\n`),
    REDIS_USERNAME: 'ann',
    REDIS_PASSWORD_FILE: await file('password', 'p@ss word\n'),
    REDIS_TLS_CA_FILE: cert,
    REDIS_TLS_CERT_FILE: cert,
    REDIS_TLS_KEY_FILE: key,
  };
  const settings = { DATA_DIR: join(directory, 'data'), FLOWS_DIR: flows };
  const service = await startService({ ...settings, ...entry, WORKERS: '1' });
  t.teardown(() => service.stop());
  t.match(await call(service.url, 'GET', '/api/ready'), { status: 200 });
  const photo = await makePhoto({ width: 80, height: 60 });
  const { jobId, uploadId } = await startFlow(service.url, 'small', 'photo', {
    ...{ name: 'a.jpg', type: 'image/jpeg', size: photo.length },
  });
  const events = openEvents(service.url, `/ws/flow/${jobId}`);
  await patch(service.url, uploadId, photo);
  await events.until('flow_complete');
  t.match(await ended(service.url, jobId), { status: 'completed' });
  t.notMatch(service.output(), /p@ss word|NOPERM(?!.*'info')/, 'nothing was refused that it needs');

  const { REDIS_TLS_CA_FILE: _, ...unknown } = entry;
  const { REDIS_TLS_CERT_FILE: _1, REDIS_TLS_KEY_FILE: _2, ...nameless } = entry;
  const url = `rediss://ann:p%40ss%20word@127.0.0.1:${port}`;
  const wrong = { REDIS_URL: url, REDIS_TLS_CA_FILE: cert, REDIS_PASSWORD: 'wr0ng', DATA_DIR: settings.DATA_DIR };
  const starts = [unknown, nameless, wrong].map((one) => runToExit({ ...settings, WORKERS: '0', ...one }));
  for (const { code, output } of await Promise.all(starts)) {
    t.equal(code, 1);
    t.match(output, `Redis at 127.0.0.1:${port} cannot be reached or entered`);
    t.notMatch(output, /p@ss word|p%40ss|wr0ng/, 'and without the secret');
  }
});
