/**
 * `npm run image`: builds the Dockerfile, runs the image as its deployments do, and takes a tour through the service.
 * Needs root on Debian, for buildah and for mounts; takes a minute, and once another one for Debian itself.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../services/debian.ts';
import { freePort } from '../services/port.ts';
import { takeTour } from '../support/tour.ts';
import { until } from '../support/wait.ts';
import { createBuildah, type ImageConfig } from './buildah.ts';
import { type Container, runContainer } from './container.ts';
import { buildStandIn } from './stand-in.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

const program = (name: string): string => {
  const found = findProgram(name);
  if (found === undefined) throw new Error(`${name} is missing`);
  return found;
};

/** Does one thing and says so. */
const step = async <T>(title: string, work: () => T | Promise<T>): Promise<T> => {
  const begin = performance.now();
  const result = await work();
  console.log(`ok - ${title} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
  return result;
};

const checkConfig = ({ User, StopSignal, Volumes, ExposedPorts, Healthcheck, Env = [] }: ImageConfig): void => {
  assert.equal(User, '1000:1000');
  assert.equal(StopSignal, 'SIGTERM');
  assert.deepEqual(Object.keys(Volumes ?? {}), ['/data']);
  assert.deepEqual(Object.keys(ExposedPorts ?? {}), ['3000/tcp']);
  assert.deepEqual(Healthcheck?.Test, ['CMD', 'node', 'src/cli/health.ts']);
  for (const wanted of ['NODE_ENV=production', 'DATA_DIR=/data', 'MALLOC_ARENA_MAX=2']) assert.ok(Env.includes(wanted));
};

const checkContent = (root: string): void => {
  for (const path of ['src/main.ts', 'bin/sluice.js', 'flows/two-sizes.ts', 'node_modules/sharp'])
    assert.ok(existsSync(join(root, 'app', path)), `${path} is there`);
  for (const path of ['test', '.git', '.env', 'node_modules/tap', 'node_modules/typescript'])
    assert.ok(!existsSync(join(root, 'app', path)), `${path} is not there`);
};

const checkConfined = async ({ pid, exec }: Container): Promise<void> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  assert.match(status, /^Uid:\t1000\t1000\t1000\t1000$/m);
  assert.match(status, /^NSpid:\t\d+\t1$/m);
  for (const path of ['/app/x', '/x', '/usr/local/bin/x']) {
    const { code, output } = await exec(['touch', path]);
    assert.equal(code, 1);
    assert.match(output, /Read-only file system/);
  }
};

const directory = await mkdtemp(join(tmpdir(), 'sluice-image-'));
try {
  const buildah = createBuildah(program('buildah'), directory);
  const mmdebstrap = program('mmdebstrap');
  const node = await step('a stand-in for the Node image', () => buildStandIn(buildah, mmdebstrap, directory));
  const tag = 'localhost/sluice';
  await step('the image builds', () => buildah.build({ context: project, tag, args: { NODE_IMAGE: node } }));
  const config = buildah.config(tag);
  await step('it names its user, its volume and its health check', () => checkConfig(config));
  const root = buildah.unpack(tag);
  await step('it holds what the service needs and nothing else', () => checkContent(root));
  const port = await freePort();
  const env = { HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'warn' };
  const container = await runContainer({ root, config, data: join(directory, 'data'), env });
  try {
    await step('it starts, and its health check passes', () =>
      until(async () => (await container.exec(config.Healthcheck?.Test.slice(1) ?? [])).code === 0),
    );
    await step('it runs as uid 1000 and first process on a read-only root', () => checkConfined(container));
    await step('an upload, a flow, its events and its results', async () => {
      assert.deepEqual((await takeTour(`http://127.0.0.1:${port}/sluice`)).widths, {
        'small-web': 400,
        'large-web': 1600,
      });
    });
    await step('its command line is there', async () => {
      assert.equal((await container.exec(['node', 'bin/sluice.js', 'flows', 'validate'])).code, 0);
    });
  } finally {
    await step('it ends with 0 when it is stopped', async () =>
      assert.equal(await container.stop(), 0, container.output()),
    );
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
