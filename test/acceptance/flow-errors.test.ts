import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { type Answer, call, ended, patch, startFlow } from '../support/api.ts';
import { startDeployment } from '../support/deployment.ts';
import { runToExit } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const flow = {
  flowId: 'small',
  name: 'Small',
  input: { allowedMimeTypes: ['image/*'], maxFileSize: 1_000_000 },
  nodes: { photo: { type: 'file-input' }, resize: { type: 'resize', options: { width: 100 } } },
  edges: [{ source: 'photo', target: 'resize' }],
};

const withFlows = async (files: Record<string, string>) => {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, 'flows'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, 'flows', name), text);
  return { DATA_DIR: join(directory, 'data'), FLOWS_DIR: join(directory, 'flows') };
};

t.test('bad input of a flow', async (t) => {
  const env = await withFlows({ 'small.json': JSON.stringify(flow) });
  const service = await startDeployment({ ...env, MAX_IMAGE_PIXELS: '1000000' });
  t.teardown(() => service.stop());
  const { url } = service;
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 30 };
  const grey = { width: 600, height: 400, channels: 3 as const, background: '#888', noise };
  const photo = await sharp({ create: grey }).jpeg().toBuffer();

  /** Sends the bytes as a JPEG and gives the record of the job. */
  const send = async (bytes: Buffer): Promise<Answer> => {
    const file = { name: 'a.jpg', type: 'image/jpeg', size: bytes.length };
    const { jobId, uploadId } = await startFlow(url, 'small', 'photo', file);
    t.equal((await patch(url, uploadId, bytes)).status, 200, 'the upload does not fail for what its flow makes of it');
    return ended(url, jobId);
  };
  const init = (mimeType: string, size: number) => ({
    inputs: { photo: { operation: 'init', metadata: { originalName: 'a', mimeType, size } } },
  });

  await t.test('a forbidden type is 415 at once', async (t) => {
    const { status, body } = await call(url, 'POST', '/api/flow/small/default', init('application/pdf', 10));
    t.match({ status, ...body }, { status: 415, code: 'UNSUPPORTED_FORMAT', message: /photo/ });
  });
  await t.test('a file over the size is 413 at once', async (t) => {
    const { status, body } = await call(url, 'POST', '/api/flow/small/default', init('image/jpeg', 1_000_001));
    t.match({ status, ...body }, { status: 413, code: 'FILE_TOO_LARGE', details: { max: 1_000_000 } });
  });
  await t.test('text sent as JPEG', async (t) => {
    const job = await send(Buffer.from('This is not a picture at all.'));
    t.match(job, { status: 'failed', error: { code: 'UNSUPPORTED_FORMAT', nodeId: 'resize' } });
  });
  await t.test('PDF sent as JPEG', async (t) => {
    const job = await send(Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n'));
    t.match(job, { status: 'failed', error: { code: 'UNSUPPORTED_FORMAT', nodeId: 'photo' } });
  });
  await t.test('a truncated JPEG', async (t) => {
    const job = await send(photo.subarray(0, Math.floor(photo.length / 2)));
    t.match(job, { status: 'failed', error: { code: 'INVALID_INPUT', nodeId: 'resize' } });
  });
  await t.test('too many pixels', async (t) => {
    const red = { width: 2000, height: 1000, channels: 3 as const, background: 'red' };
    const job = await send(await sharp({ create: red }).jpeg().toBuffer());
    t.match(job, { status: 'failed', error: { code: 'FILE_TOO_LARGE', nodeId: 'resize' } });
  });
  await t.test('an upload deleted under a waiting job', async (t) => {
    const { jobId, uploadId } = await startFlow(url, 'small', 'photo', { name: 'a', type: 'image/png', size: 10 });
    t.equal((await call(url, 'DELETE', `/api/upload/${uploadId}`)).status, 204);
    t.match(await ended(url, jobId), { status: 'failed', error: { code: 'UPLOAD_FAILED', nodeId: 'photo' } });
  });
  await t.test('unknown flows, nodes and fields', async (t) => {
    t.match(await call(url, 'POST', '/api/flow/none/default', {}), { status: 404, body: { code: 'FLOW_NOT_FOUND' } });
    t.match(await call(url, 'POST', '/api/flow/small/x', {}), { status: 404, body: { code: 'STORAGE_NOT_FOUND' } });
    const none = { inputs: { none: init('image/png', 1).inputs.photo } };
    t.match(await call(url, 'POST', '/api/flow/small/default', none), {
      status: 404,
      body: { code: 'NODE_NOT_FOUND' },
    });
    for (const [body, field] of [
      [{ inputz: {} }, 'body.inputz'],
      [{ inputs: { photo: { operation: 'init' } } }, 'body.inputs.photo.metadata'],
      [{ inputs: { photo: { operation: 'upload' } } }, 'body.inputs.photo.uploadId'],
      [{ inputs: { photo: { operation: 'steal', uploadId: 'x' } } }, 'body.inputs.photo'],
      [{ inputs: { photo: { operation: 'init', metadata: { size: '5' } } } }, 'body.inputs.photo'],
    ] as const) {
      const answer = await call(url, 'POST', '/api/flow/small/default', body);
      t.match(answer, { status: 400, body: { code: 'VALIDATION_ERROR' } }, JSON.stringify(body));
      const named = String(answer.body.details.field);
      t.ok(named.startsWith(field), `${named} begins with ${field}`);
    }
  });
  await t.test('after all that the service serves', async (t) => {
    t.match(await send(photo), { status: 'completed', outputs: { resize: { mimeType: 'image/jpeg' } } });
    t.equal((await call(url, 'GET', '/api/ready')).status, 200);
  });
});

t.test('a flow file with a mistake stops the start with file, line and node', async (t) => {
  const cycle = `flowId: c
name: C
nodes:
  in: { type: file-input }
  a: { type: resize, options: { width: 1 } }
  b: { type: resize, options: { width: 1 } }
edges:
  - { source: in, target: a }
  - { source: a, target: b }
  - { source: b, target: a }
`;
  const kind = `{"flowId": "k", "name": "K",
 "nodes": {"in": {"type": "file-input"},
 "x": {"type": "explode"}},
 "edges": [{"source": "in", "target": "x"}]}`;
  const option = `import { defineFlow, inputNode, resizeNode } from 'sluice';
export default defineFlow({
  flowId: 'o',
  name: 'O',
  nodes: [
    inputNode('in'),
    resizeNode('small', { widht: 5 } as object),
  ],
  edges: [{ source: 'in', target: 'small' }],
});
`;
  const env = await withFlows({ 'cycle.yaml': cycle, 'kind.json': kind, 'option.ts': option });
  const { code, output } = await runToExit(env);
  t.equal(code, 1);
  t.match(output, /cycle\.yaml:\d+.*node "[ab]".*cycle/);
  t.match(output, /kind\.json:3.*node "x".*explode/);
  t.match(output, /option\.ts:7.*node "small".*widht/);
});
