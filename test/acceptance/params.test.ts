import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { call, download, ended, patch } from '../support/api.ts';
import { startDeployment } from '../support/deployment.ts';
import { makePhoto } from '../support/photo.ts';
import { temporaryDirectory } from '../support/temporary.ts';

t.test('a job does what its parameters say', async (t) => {
  const directory = await temporaryDirectory(t);
  const readme = await readFile(new URL('../../flows/README.md', import.meta.url), 'utf8');
  const [example = ''] = /flowId: resized\n.*?(?=```)/s.exec(readme) ?? [];
  await writeFile(join(directory, 'resized.yaml'), example);
  // Its options fit some parameters only, which nobody can know before a job.
  const unchecked = example.replace('flowId: resized', 'flowId: unchecked').replace(', maximum: 4000', '');
  await writeFile(join(directory, 'unchecked.yaml'), unchecked);
  const service = await startDeployment({ DATA_DIR: join(directory, 'data'), FLOWS_DIR: directory });
  t.teardown(() => service.stop());
  const photo = await makePhoto({ width: 300, height: 200 });

  const run = async (flowId: string, params: object) => {
    const metadata = { originalName: 'a.jpg', mimeType: 'image/jpeg', size: photo.length };
    const body = { params, inputs: { photo: { operation: 'init', metadata } } };
    const started = await call(service.url, 'POST', `/api/flow/${flowId}/default`, body);
    t.equal(started.status, 201);
    await patch(service.url, started.body.tasks[0].result.id, photo);
    return ended(service.url, started.body.id);
  };

  const avif = await run('resized', { width: 60, format: 'avif' });
  t.match(avif.outputs?.web, { mimeType: 'image/avif' });
  const image = await download(service.url, avif.outputs.web.url);
  t.match(await sharp(image).metadata(), { width: 60, height: 40 });
  t.match((await run('resized', { width: 30 })).outputs?.web, { mimeType: 'image/webp', meta: { width: 30 } });

  const failed = await run('unchecked', { width: 20_000 });
  t.match(failed, {
    status: 'failed',
    error: { nodeId: 'small', code: 'INVALID_PARAMS', message: 'option "width" must be <= 16383' },
  });
  t.equal(failed.tasks[1].attempt, 1, 'it is not tried again');
});
