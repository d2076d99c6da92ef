/** Flows that change while the service runs. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const yaml = (width: number | string, flowId = 'small') => `flowId: ${flowId}
name: Width ${width}
nodes:
  photo: { type: file-input }
  resize: { type: resize, options: { width: ${width} } }
edges:
  - { source: photo, target: resize }
`;

const grey = { width: 300, height: 200, channels: 3 as const, background: '#888' };
const photo = await sharp({ create: grey }).png().toBuffer();
const file = { name: 'a.png', type: 'image/png', size: photo.length };

const serving = async (t: Test, settings: Readonly<Record<string, string>> = {}) => {
  const directory = await temporaryDirectory(t);
  const flows = await temporaryDirectory(t);
  await writeFile(join(flows, 'small.yaml'), yaml(100));
  const service = await startService({
    DATA_DIR: directory,
    FLOWS_DIR: flows,
    LOG_LEVEL: 'info',
    WORKERS: '0',
    ...settings,
  });
  t.teardown(() => service.stop());
  const listed = async (): Promise<string> => {
    const { body } = await call(service.url, 'GET', '/api/flow');
    return body.flows.map((flow: { name: string }) => flow.name).join(', ');
  };
  return { service, url: service.url, flows, listed };
};

/** Sends the photo to the job and gives the width of what comes out. */
const widthOf = async (url: string, { jobId, uploadId }: { jobId: string; uploadId: string }) => {
  await patch(url, uploadId, photo);
  const job = await ended(url, jobId);
  return (await sharp(await download(url, job.outputs.resize.url)).metadata()).width;
};

t.test('an edited file counts for new jobs; a job that waits keeps its definition', async (t) => {
  const { url, flows, listed } = await serving(t, { WORKERS: '1' });
  const before = await startFlow(url, 'small', 'photo', file);
  await writeFile(join(flows, 'small.yaml'), yaml(50));
  await until(async () => (await listed()) === 'Width 50');
  const after = await startFlow(url, 'small', 'photo', file);
  t.equal(await widthOf(url, after), 50);
  t.equal(await widthOf(url, before), 100);
});

t.test('a broken edit changes nothing, and the log says where it is', async (t) => {
  const { service, flows, listed } = await serving(t);
  await writeFile(join(flows, 'other.yaml'), yaml(70, 'other'));
  await until(async () => (await listed()) === 'Width 70, Width 100');
  const place = /small\.yaml:5:\d+ node \\"resize\\": option \\"width\\"/g;
  const problems = () => service.output().match(place)?.length ?? 0;
  await writeFile(join(flows, 'small.yaml'), yaml('wide'));
  await until(() => problems() === 1);
  await writeFile(join(flows, 'other.yaml'), yaml(80, 'other'));
  await until(() => problems() === 2);
  t.equal(await listed(), 'Width 70, Width 100', 'not even the other file, which is right, is taken');
  await writeFile(join(flows, 'small.yaml'), yaml(60));
  await until(async () => (await listed()) === 'Width 80, Width 60');
});

t.test('with FLOWS_ON_ERROR=skip what is right is taken', async (t) => {
  const { flows, listed } = await serving(t, { FLOWS_ON_ERROR: 'skip' });
  await writeFile(join(flows, 'other.yaml'), yaml(80, 'other'));
  await writeFile(join(flows, 'small.yaml'), yaml('wide'));
  await until(async () => (await listed()) === 'Width 80');
});

t.test('SIGHUP loads at once, and a directory that has gone is no end', async (t) => {
  const { service, flows, listed } = await serving(t);
  await rename(flows, `${flows}-away`);
  t.teardown(() => rm(`${flows}-away`, { recursive: true, force: true }));
  await until(() => service.output().includes('is not watched'));
  t.equal(await listed(), 'Width 100');
  process.kill(service.pid, 'SIGHUP');
  await until(() => service.output().includes('stay as they were'));
  t.equal(await listed(), 'Width 100');
  await writeFile(join(`${flows}-away`, 'small.yaml'), yaml(40));
  await rename(`${flows}-away`, flows);
  process.kill(service.pid, 'SIGHUP');
  await until(async () => (await listed()) === 'Width 40');
  t.equal(await service.stop(), 0);
});
