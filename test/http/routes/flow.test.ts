import t, { type Test } from 'tap';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import { inputNode, resizeNode } from '../../../src/index.ts';
import { type Answer, call } from '../../support/api.ts';
import { serviceInProcess } from '../../support/service-in-process.ts';

const copy = defineFlow({
  flowId: 'copy',
  name: 'Copy',
  description: 'One in, one out',
  nodes: [
    inputNode('photo', { allowedMimeTypes: ['image/*'], maxFiles: 2, maxFileSize: 1000 }),
    resizeNode('small', { width: 1 }, { keepOutput: true }),
  ],
  edges: [{ source: 'photo', target: 'small' }],
});
const plain = defineFlow({ flowId: 'plain', name: 'Plain', nodes: [inputNode('file')], edges: [] });
const sized = defineFlow({
  flowId: 'sized',
  name: 'Sized',
  params: { type: 'object', required: ['width'], properties: { width: { type: 'integer', minimum: 1 } } },
  nodes: [inputNode('photo'), resizeNode('small', { width: '{{params.width}}' })],
  edges: [{ source: 'photo', target: 'small' }],
});

const start = async (t: Test): Promise<string> => {
  const service = await serviceInProcess({ flows: { copy, plain, sized } });
  t.teardown(() => service.close());
  return service.url;
};

const init = (size = 5) => ({ operation: 'init', metadata: { originalName: 'a.png', mimeType: 'image/png', size } });

t.test('GET /api/flow lists the flows', async (t) => {
  const { status, body } = await call(await start(t), 'GET', '/api/flow');
  t.equal(status, 200);
  t.strictSame(body, {
    flows: [
      { flowId: 'copy', name: 'Copy', description: 'One in, one out' },
      { flowId: 'plain', name: 'Plain' },
      { flowId: 'sized', name: 'Sized' },
    ],
  });
});

t.test('GET /api/flow/:flowId shows one, each node with the name of its kind', async (t) => {
  const { body } = await call(await start(t), 'GET', '/api/flow/copy');
  t.match(body, {
    flowId: 'copy',
    name: 'Copy',
    nodes: {
      photo: { type: 'file-input', name: 'File Input', options: { maxFiles: 2 } },
      small: { type: 'resize', name: 'Resize', options: { width: 1 }, keepOutput: true },
    },
    edges: [{ source: 'photo', target: 'small' }],
  });
});

t.test('POST runs a flow: 201, Location, and a job that waits for the upload it has created', async (t) => {
  const url = await start(t);
  for (const path of ['/api/flow/copy/default', '/api/flows/copy/execute']) {
    const { status, headers, body } = await call(url, 'POST', path, { inputs: { photo: init() } });
    t.equal(status, 201, path);
    t.equal(headers.get('location'), `/sluice/api/jobs/${body.id}/status`);
    t.match(body, {
      jobId: body.id,
      flowId: 'copy',
      storageId: 'default',
      status: 'paused',
      pauseReason: 'uploads',
      progress: 0,
      tasks: [
        { nodeId: 'photo', status: 'paused', attempt: 0, result: { status: 'created', size: 5 } },
        { nodeId: 'small', status: 'pending' },
      ],
    });
    t.match(body.tasks[0].result.flow, { flowId: 'copy', nodeId: 'photo', jobId: body.id });
    for (const read of [`/api/jobs/${body.id}/status`, `/api/flows/jobs/${body.id}`]) {
      t.strictSame((await call(url, 'GET', read)).body, body, read);
    }
  }
});

t.test('several files for one input are a list', async (t) => {
  const url = await start(t);
  const { body } = await call(url, 'POST', '/api/flow/copy/default', { inputs: { photo: [init(1), init(2)] } });
  t.match(body.tasks[0], { result: { size: 1 }, results: [{ size: 1 }, { size: 2 }] });
  const many = await call(url, 'POST', '/api/flow/copy/default', { inputs: { photo: [init(), init(), init()] } });
  t.equal(many.status, 400);
  t.match(many.body, { code: 'VALIDATION_ERROR', details: { field: 'body.inputs.photo' } });
});

t.test('without a body every input gets an upload of deferred length', async (t) => {
  const url = await start(t);
  const json = { 'content-type': 'application/json' };
  for (const request of [
    {},
    { headers: json },
    { headers: json, body: '{}' },
    { headers: json, body: '{"inputs":{}}' },
  ]) {
    const response = await fetch(`${url}/api/flow/copy/default`, { method: 'POST', ...request });
    t.equal(response.status, 201, JSON.stringify(request));
    t.match(await response.json(), { tasks: [{ result: { sizeIsDeferred: true, offset: 0 } }, {}] });
  }
});

t.test('what is wrong with an input is told with its place, and nothing is created', async (t) => {
  const url = await start(t);
  const cases: readonly (readonly [unknown, number, string, string?])[] = [
    [{ photo: { operation: 'init' } }, 400, 'VALIDATION_ERROR', 'body.inputs.photo.metadata'],
    [{ photo: { operation: 'upload' } }, 400, 'VALIDATION_ERROR', 'body.inputs.photo.uploadId'],
    [{ photo: { operation: 'nope' } }, 400, 'VALIDATION_ERROR'],
    [{ photo: { ...init(), extra: 1 } }, 400, 'VALIDATION_ERROR'],
    [{ photo: 'x' }, 400, 'VALIDATION_ERROR'],
    [{ photo: [] }, 400, 'VALIDATION_ERROR'],
    [{ photo: { operation: 'init', metadata: { mimeType: 'image/png', size: '5' } } }, 400, 'VALIDATION_ERROR'],
    [{ other: init() }, 404, 'NODE_NOT_FOUND'],
    [{ small: init() }, 404, 'NODE_NOT_FOUND'],
    [{ photo: { operation: 'init', metadata: { mimeType: 'text/plain' } } }, 415, 'UNSUPPORTED_FORMAT'],
    [{ photo: init(1001) }, 413, 'FILE_TOO_LARGE'],
    [{ photo: { ...init(), storageId: 'nope' } }, 404, 'STORAGE_NOT_FOUND'],
  ];
  for (const [inputs, status, code, field] of cases) {
    const answer = await call(url, 'POST', '/api/flow/copy/default', { inputs });
    t.equal(answer.status, status, JSON.stringify(inputs));
    t.equal(answer.body.code, code);
    t.match(answer.body.message, status === 400 ? 'body.inputs' : /./);
    if (field !== undefined) t.equal(answer.body.details.field, field);
  }
});

/** Runs a flow with a key in the header. */
const postWithKey = async (url: string, path: string, key: string | undefined, body: object) => {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
};

t.test('an idempotency key makes one job of equal requests', async (t) => {
  const url = await start(t);
  const post = (path: string, key: string | undefined, body: object) => postWithKey(url, path, key, body);
  const inputs = { photo: init() };
  const first = await post('/api/flow/copy/default', 'k-1', { inputs });
  t.equal(first.status, 201);
  t.equal(first.headers.get('idempotent-replayed'), null);
  await call(url, 'POST', `/api/jobs/${first.body.id}/cancel`);
  for (const [path, key, body] of [
    ['/api/flow/copy/default', 'k-1', { inputs }],
    ['/api/flow/copy/default', undefined, { inputs, idempotencyKey: 'k-1' }],
    ['/api/flow/copy/default', 'k-1', { idempotencyKey: 'k-1', inputs: { photo: [init()] } }],
    ['/api/flows/copy/execute', 'k-1', { inputs }],
  ] as const) {
    const again = await post(path, key, body);
    t.equal(again.status, 201, path);
    t.equal(again.headers.get('location'), first.headers.get('location'));
    t.equal(again.headers.get('idempotent-replayed'), 'true');
    t.match(again.body, { id: first.body.id, status: 'cancelled' }, 'the job as it is now');
  }
  const other = await post('/api/flow/copy/default', 'k-1', { inputs: { photo: init(6) } });
  t.match(other, { status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  const refused = await post('/api/flow/copy/default', 'k-2', { inputs: { photo: init(1001) } });
  t.equal(refused.status, 413);
  t.equal((await post('/api/flow/copy/default', 'k-2', { inputs })).status, 201, 'what was refused used no key up');
});

t.test('an idempotency key is 1 to 255 visible ASCII characters, and the same wherever it stands', async (t) => {
  const url = await start(t);
  const post = (key: string | undefined, body: object) => postWithKey(url, '/api/flow/plain/default', key, body);
  const refused = (field: string) => ({ status: 400, body: { code: 'VALIDATION_ERROR', details: { field } } });
  for (const key of ['', 'a b', 'x'.repeat(256), 'é']) {
    t.match(await post(key, {}), refused('headers.idempotency-key'), JSON.stringify(key));
    t.match(await post(undefined, { idempotencyKey: key }), refused('body.idempotencyKey'), JSON.stringify(key));
  }
  t.match(await post('a', { idempotencyKey: 'b' }), refused('body.idempotencyKey'));
  for (const key of ['~', 'x'.repeat(255), '"8e03978e"']) t.match(await post(key, {}), { status: 201 });
});

t.test('POST cancel ends a job, and says the same when it is asked again', async (t) => {
  const url = await start(t);
  const { body } = await call(url, 'POST', '/api/flow/copy/default', { inputs: { photo: init() } });
  const upload = body.tasks[0].result.id;
  const first = await call(url, 'POST', `/api/jobs/${body.id}/cancel`);
  t.equal(first.status, 200);
  t.match(first.body, { status: 'cancelled', tasks: [{ status: 'cancelled' }, { status: 'cancelled' }] });
  t.equal((await call(url, 'POST', `/api/jobs/${body.id}/cancel`)).body.status, 'cancelled');
  t.equal((await call(url, 'GET', `/api/upload/${upload}`)).status, 410, 'its upload went with it');
  t.equal((await call(url, 'POST', '/api/jobs/nope/cancel')).status, 404);
});

t.test('GET /api/flow/:flowId shows the start parameters', async (t) => {
  const { body } = await call(await start(t), 'GET', '/api/flow/sized');
  t.strictSame(body.params, sized.params);
  t.strictSame(body.nodes.small.options, { width: '{{params.width}}' });
});

t.test('POST takes the start parameters of the flow, and does not show them in the job', async (t) => {
  const url = await start(t);
  for (const path of ['/api/flow/sized/default', '/api/flows/sized/execute']) {
    const { status, body } = await call(url, 'POST', path, { params: { width: 5 } });
    t.equal(status, 201, path);
    t.notOk('params' in body);
  }
});

t.test('wrong start parameters are told by their fields', async (t) => {
  const url = await start(t);
  const cases: readonly (readonly [flowId: string, params: unknown, message: string])[] = [
    ['sized', undefined, 'body.params.width is missing'],
    ['sized', {}, 'body.params.width is missing'],
    ['sized', { width: '5' }, 'body.params.width must be integer'],
    ['sized', { width: 0 }, 'body.params.width must be >= 1'],
    ['sized', { width: 5, constructor: 1 }, 'body.params.constructor is not a known field; known: width'],
    ['sized', [], 'body.params must be object'],
    ['sized', 'width', 'body.params must be object'],
    ['plain', { width: 5 }, 'body.params is not taken: flow "plain" has no params'],
  ];
  for (const [flowId, params, message] of cases) {
    const { status, body } = await call(url, 'POST', `/api/flow/${flowId}/default`, { params });
    t.equal(status, 400, JSON.stringify(params));
    t.match(body, { code: 'VALIDATION_ERROR', message, details: { field: message.split(' ')[0] } });
  }
  const huge = await call(url, 'POST', '/api/flow/sized/default', { params: { width: 5, text: 'x'.repeat(70_000) } });
  t.equal(huge.status, 413);
});
