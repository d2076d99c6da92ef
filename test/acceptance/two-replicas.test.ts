/** Two replicas as one service: whatever one of them is told, the other one knows (WIRE 1, rule 5; WIRE 5). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { type EventSocket, openEvents } from '../support/event-socket.ts';
import { makePhoto } from '../support/photo.ts';
import { findSurroundings, type Replicas, startReplicas } from '../support/replicas.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { childrenOf, isAlive } from '../workers/children.ts';

const surroundings = await findSurroundings(t);
const skip = surroundings === undefined && 'no Redis or nginx, and TEST_SERVICES=embedded';

const flow = {
  flowId: 'small',
  name: 'Small',
  nodes: { photo: { type: 'file-input' }, web: { type: 'resize', options: { width: 40 } } },
  edges: [{ source: 'photo', target: 'web' }],
};

/** `slow` takes a second or more. */
const slowFlow = {
  flowId: 'slow',
  name: 'Slow',
  nodes: {
    photo: { type: 'file-input' },
    slow: { type: 'optimize', options: { format: 'avif', effort: 4 }, retries: 0 },
    small: { type: 'resize', options: { width: 40 } },
  },
  edges: [
    { source: 'photo', target: 'slow' },
    { source: 'slow', target: 'small' },
  ],
};

/** Two of them; the first one runs no nodes. */
const startPair = async (): Promise<Replicas> => {
  if (surroundings === undefined) throw new Error('not skipped');
  const [data, flows] = [await temporaryDirectory(t), await temporaryDirectory(t)];
  await writeFile(join(flows, 'small.json'), JSON.stringify(flow));
  await writeFile(join(flows, 'slow.json'), JSON.stringify(slowFlow));
  const env = { DATA_DIR: data, FLOWS_DIR: flows };
  const pair = await startReplicas(surroundings, { count: 2, env, own: (index) => ({ WORKERS: String(index) }) });
  t.teardown(() => pair.stop());
  return pair;
};

const pair = skip === false ? await startPair() : undefined;
const at = (index: number): string => pair?.all[index]?.url ?? '';
const [first, second] = [uploadClient(at(0)), uploadClient(at(1))];

const bytes = sampleBytes(1_200_000);

const requireWhole = async (t: Test, id: string) => {
  for (const uploads of [first, second]) t.equal(sha256(await uploads.download(id)), sha256(bytes));
};

void t.test('every piece of an upload goes to another replica', { skip }, async (t) => {
  const { id } = await first.create({ size: bytes.length });
  const step = bytes.length / 12;
  for (let offset = 0; offset < bytes.length; offset += step) {
    const uploads = (offset / step) % 2 === 0 ? second : first;
    const response = await uploads.patch(id, bytes.subarray(offset, offset + step), { offset });
    t.equal(response.status, 200);
    for (const { get } of [first, second]) t.match(await get(id), { offset: offset + step });
  }
  await requireWhole(t, id);
});

void t.test('nginx hands them out in turn, and clients see one service', { skip }, async (t) => {
  const uploads = uploadClient(pair?.url ?? '');
  const { id } = await uploads.create({ size: bytes.length });
  const step = bytes.length / 12;
  for (let offset = 0; offset < bytes.length; offset += step) {
    t.equal((await uploads.patch(id, bytes.subarray(offset, offset + step), { offset })).status, 200);
    t.equal(await uploads.offset(id), offset + step);
  }
  await requireWhole(t, id);
});

void t.test('a watcher of one replica sees the upload that the other one receives', { skip }, async (t) => {
  const { id } = await second.create({ size: 10 });
  const events = openEvents(at(0), `/ws/upload/${id}`);
  await events.until('upload_started');
  await second.patch(id, 'hello', { offset: 0 });
  t.match(await events.until('upload_progress'), { bytesUploaded: 5 });
  await second.patch(id, 'world', { offset: 5 });
  await events.until('upload_complete');
  const told = events.frames.slice(1);
  t.strictSame(
    told.map(({ seq, type }) => `${seq} ${type}`),
    ['1 upload_started', '2 upload_progress', '3 upload_progress', '4 upload_complete'],
  );
});

for (const ask of ['HEAD', 'DELETE'] as const) {
  void t.test(`${ask} on one replica displaces a writer on the other one`, { skip }, async (t) => {
    const { id } = await first.create({ size: bytes.length });
    const http = await first.begin(id, { 'upload-offset': 0, 'content-length': bytes.length });
    await http.send(bytes.subarray(0, 500_000));
    const response = await (ask === 'HEAD' ? second.head(id) : second.remove(id));
    t.equal(response.status, ask === 'HEAD' ? 200 : 204);
    const displaced = await http.response();
    t.ok([409, 410].includes(displaced.status), `${displaced.status}`);
    http.cut();
    if (ask === 'DELETE') return t.equal((await first.head(id)).status, 410);
    const offset = Number(response.headers.get('upload-offset'));
    t.equal(displaced.headers['upload-offset'], String(offset));
    t.equal(await first.offset(id), offset, 'and nothing is written after that');
    await second.patch(id, bytes.subarray(offset), { offset });
    return requireWhole(t, id);
  });
}

void t.test('of PATCHes at one offset on both replicas one is accepted', { skip }, async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await first.create({ size: 10 });
    const bodies = ['aaaaa', 'bbbbb', 'ccccc', 'ddddd', 'eeeee', 'fffff'];
    const answers = await Promise.all(
      bodies.map((body, index) => (index % 2 === 0 ? first : second).patch(id, body, { offset: 0 })),
    );
    const accepted = bodies.filter((_, index) => answers[index]?.status === 200);
    t.equal(accepted.length, 1);
    for (const { status } of answers) t.ok([200, 409].includes(status), `${status}`);
    const [refused] = answers.filter(({ status }) => status === 409);
    t.match((await refused?.json()) as ErrorBody, { code: 'INVALID_OFFSET', 'expected-offset': 5 });
    await second.patch(id, 'world', { offset: 5 });
    t.equal(String(await first.download(id)), `${accepted[0]}world`);
  }
});

void t.test(
  'a flow that one replica starts runs on the other one, and all who watch hear of it',
  { skip },
  async (t) => {
    const photo = await makePhoto({ width: 200, height: 100 });
    const file = { name: 'a.jpg', type: 'image/jpeg', size: photo.length };
    const { jobId, uploadId } = await startFlow(at(0), 'small', 'photo', file);
    const watchers = [0, 1].map((index) => openEvents(at(index), `/ws/flow/${jobId}`));
    await Promise.all(watchers.map((watcher) => watcher.until('flow_snapshot')));
    await patch(at(0), uploadId, photo);
    await Promise.all(watchers.map((watcher) => watcher.until('flow_complete')));
    const job = await ended(at(0), jobId);
    t.match(job, { status: 'completed', outputs: { web: { mimeType: 'image/jpeg' } } });
    for (const index of [0, 1]) {
      const image = await download(at(index), job.outputs.web.url);
      t.match(await sharp(image).metadata(), { width: 40, height: 20 });
    }
    const late = Array.from({ length: 20 }, (_, index) => openEvents(at(index % 2), `/ws/flow/${jobId}`));
    for (const { until, frames } of late) {
      t.match(await until('flow_complete'), { jobId, outputs: { web: {} } });
      const numbers = frames.slice(1).map(({ seq }) => seq);
      t.strictSame(
        numbers,
        numbers.map((_, index) => index + 1),
      );
      t.equal(frames.filter(({ type }) => type === 'flow_complete').length, 1);
    }
  },
);

const hasTold = ({ frames }: EventSocket, type: string, nodeId: string): boolean =>
  frames.some((frame) => frame.type === type && frame['nodeId'] === nodeId);

/** Resolves when the second replica is at work on the node `slow`, of which the first one is told. */
const startSlow = async () => {
  const photo = await makePhoto({ width: 3000, height: 2000 });
  const file = { name: 'a.jpg', type: 'image/jpeg', size: photo.length };
  const { jobId, uploadId } = await startFlow(at(0), 'slow', 'photo', file);
  const events = openEvents(at(0), `/ws/flow/${jobId}`);
  await patch(at(0), uploadId, photo);
  await until(() => hasTold(events, 'node_started', 'slow'));
  return { jobId, events };
};

void t.test('who cancels a job at one replica ends its worker at the other one', { skip }, async (t) => {
  const workers = await childrenOf(pair?.all[1]?.pid ?? 0);
  t.equal(workers.length, 1);
  const { jobId, events } = await startSlow();
  t.match(await call(at(0), 'POST', `/api/jobs/${jobId}/cancel`), { status: 200, body: { status: 'cancelled' } });
  await until(() => !workers.some(isAlive));
  await events.until('flow_cancelled');
  t.match(await call(at(1), 'GET', `/api/jobs/${jobId}/status`), { body: { status: 'cancelled' } });
});

void t.test('one that is stopped at one replica goes no further at the other one', { skip }, async (t) => {
  const { jobId, events } = await startSlow();
  t.match(await call(at(0), 'POST', `/api/jobs/${jobId}/pause`), { body: { status: 'paused' } });
  await until(() => hasTold(events, 'node_completed', 'slow'));
  t.match(await call(at(0), 'POST', `/api/jobs/${jobId}/resume`), { status: 200 });
  t.equal((await ended(at(1), jobId)).status, 'completed');
  const told = events.frames.map(({ type, nodeId }) => `${type} ${nodeId ?? ''}`.trim());
  t.strictSame(told.slice(told.indexOf('node_started slow'), -1), [
    ...['node_started slow', 'flow_paused', 'node_completed slow', 'flow_resumed'],
    ...['node_started small', 'node_completed small'],
  ]);
});

void t.test('twenty late watchers of an upload get its last frame, on either replica', { skip }, async (t) => {
  const { id } = await second.upload(bytes);
  const late = Array.from({ length: 20 }, (_, index) => openEvents(at(index % 2), `/ws/upload/${id}`));
  for (const { until } of late) t.match(await until('upload_complete'), { uploadId: id });
});
