/** kill -9 of the service while bytes come in (WIRE 1, rule 1): nothing acknowledged is lost, and the rest resumes. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type EventSocket, openEvents } from '../support/event-socket.ts';
import type { HttpSocket } from '../support/http-socket.ts';
import { contentOf } from '../support/random.ts';
import type { RunningService } from '../support/running-service.ts';
import { storedPath, storedSize } from '../support/stored-files.ts';
import { sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { type Lives, prepareLives } from './lives.ts';
import { findStoryProblem } from './story.ts';

const mebibyte = 1_048_576;

const openLives = await prepareLives(t, { WORKERS: '0' });

const create = async ({ url }: RunningService, content: Buffer): Promise<string> =>
  (await uploadClient(url).create({ fileName: 'a.bin', size: content.length })).id;

/** A PATCH in the middle of its body, watched from the side. */
interface Running {
  readonly id: string;
  readonly content: Buffer;
  /** Bytes that the socket has told as progress so far. */
  told(): number;
  /** Resolves when nothing more can come from the service that was killed. */
  readonly over: Promise<unknown>;
}

const startPatch = async (
  service: RunningService,
  content: Buffer,
  send: (http: HttpSocket, content: Buffer) => Promise<void>,
): Promise<Running> => {
  const id = await create(service, content);
  const events = openEvents(service.url, `/ws/upload/${id}`);
  await events.until('upload_started');
  const headers = { 'upload-offset': 0, 'content-length': content.length };
  const http = await uploadClient(service.url).begin(id, headers);
  const sending = send(http, content);
  return { id, content, told: () => progressOf(events), over: Promise.all([events.closed, http.closed, sending]) };
};

const progressOf = ({ frames }: EventSocket): number => {
  const told = frames.filter(({ type }) => type === 'upload_progress').map((frame) => Number(frame['bytesUploaded']));
  return Math.max(0, ...told);
};

const atOnce = (http: HttpSocket, content: Buffer) => http.send(content);

/** About 4 MiB a second, until the connection is gone. */
const slowly = async (http: HttpSocket, content: Buffer) => {
  for (let at = 0; at < content.length && http.socket.writable; at += 65_536) {
    await http.send(content.subarray(at, at + 65_536));
    await sleep(15);
  }
};

/** The offset holds, the rest is taken from there, and the file is what was sent. Gives the offset. */
const requireResumable = async (
  t: Test,
  lives: Lives,
  service: RunningService,
  upload: { readonly id: string; readonly content: Buffer; readonly acknowledged: number },
): Promise<number> => {
  const uploads = uploadClient(service.url);
  const { id, content, acknowledged } = upload;
  const offset = await uploads.offset(id);
  t.ok(offset >= acknowledged, `offset ${offset} after ${acknowledged} acknowledged bytes`);
  const response = await uploads.patch(id, content.subarray(offset), { offset });
  t.match(await response.json(), { offset: content.length, status: 'completed' });
  t.equal(sha256(await uploads.download(id)), sha256(content));
  t.equal(await storedSize(lives.data, id), content.length, 'nothing lies beyond the end');
  t.equal(await findStoryProblem(service.url, id), undefined);
  t.notMatch(service.output(), /"level":"(error|fatal)"/);
  return offset;
};

void t.test('a PATCH that is killed many MiB in keeps all that was told as progress', async (t) => {
  const lives = await openLives(t);
  const many = 30 * mebibyte;
  const service = await lives.start();
  const patch = await startPatch(service, contentOf(1, 80 * mebibyte), atOnce);
  await until(() => patch.told() >= many);
  await service.stop('SIGKILL');
  await patch.over;
  await requireResumable(t, lives, await lives.start(), { ...patch, acknowledged: patch.told() });
});

void t.test('a PATCH that is killed right after its first commit keeps that, whatever lies beyond it', async (t) => {
  const lives = await openLives(t);
  const service = await lives.start();
  const patch = await startPatch(service, contentOf(2, 48 * mebibyte), atOnce);
  await until(() => patch.told() > 0);
  await service.stop('SIGKILL');
  await patch.over;
  // Even more than the whole upload will have.
  const beyond = patch.content.length - (await storedSize(lives.data, patch.id)) + mebibyte;
  await appendFile(storedPath(lives.data, patch.id), contentOf(3, beyond));
  await requireResumable(t, lives, await lives.start(), { ...patch, acknowledged: patch.told() });
});

void t.test('one kill finds several uploads at different points', async (t) => {
  const lives = await openLives(t);
  const first = await lives.start();
  const uploads = uploadClient(first.url);

  const whole = contentOf(4, mebibyte);
  const wholeId = await create(first, whole);
  const half = contentOf(5, 3 * mebibyte);
  const halfId = await create(first, half);
  t.equal((await uploads.patch(halfId, half.subarray(0, mebibyte), { offset: 0 })).status, 200);
  const all = contentOf(6, 24 * mebibyte);
  const allId = await create(first, all);
  t.equal((await uploads.patch(allId, all.subarray(0, mebibyte))).status, 200);

  const slow = await startPatch(first, contentOf(7, 32 * mebibyte), slowly);
  await until(() => slow.told() > 0);
  const more = await uploads.begin(halfId, { 'upload-offset': mebibyte, 'content-length': 2 * mebibyte });
  await more.send(half.subarray(mebibyte, 2 * mebibyte));
  const rest = await uploads.begin(allId, { 'content-length': 23 * mebibyte });
  // Not what belongs there, so that the test would see it if it stayed.
  await rest.send(contentOf(8, 22 * mebibyte));
  await until(
    async () =>
      (await storedSize(lives.data, halfId)) > mebibyte && (await storedSize(lives.data, allId)) > 20 * mebibyte,
  );
  t.equal((await uploads.patch(wholeId, whole, { offset: 0 })).status, 200);
  await first.stop('SIGKILL');
  await slow.over;
  const second = await lives.start();

  await t.test('an upload whose last byte was answered is complete', async (t) => {
    t.match(await uploadClient(second.url).get(wholeId), { status: 'completed', offset: whole.length });
    t.equal(sha256(await uploadClient(second.url).download(wholeId)), sha256(whole));
    t.equal(await findStoryProblem(second.url, wholeId), undefined);
  });
  await t.test('a PATCH that had not committed yet leaves what the one before it was answered', async (t) => {
    await requireResumable(t, lives, second, { id: halfId, content: half, acknowledged: mebibyte });
  });
  await t.test('a PATCH without Upload-Offset counts for nothing', async (t) => {
    t.equal(await requireResumable(t, lives, second, { id: allId, content: all, acknowledged: mebibyte }), mebibyte);
  });
  await t.test('a slow client keeps what a second has brought', async (t) => {
    t.ok(slow.told() > 0 && slow.told() < 16 * mebibyte, 'the clock has committed, not the size');
    await requireResumable(t, lives, second, { ...slow, acknowledged: slow.told() });
  });
});
