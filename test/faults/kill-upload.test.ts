/** kill -9 of the service while bytes come in (WIRE 1, rule 1): nothing acknowledged is lost, and the rest resumes. */
import { createCipheriv } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type EventSocket, openEvents } from '../support/event-socket.ts';
import type { HttpSocket } from '../support/http-socket.ts';
import type { RunningService } from '../support/running-service.ts';
import { sha256, uploadClient } from '../support/upload-client.ts';
import { until } from '../support/wait.ts';
import { type Lives, prepareLives } from './lives.ts';

const mebibyte = 1_048_576;

const openLives = await prepareLives(t, { WORKERS: '0' });

/** Bytes that nobody could guess, the same for the same number. */
const contentOf = (number: number, length: number): Buffer => {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(number);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
};

/** Where the bytes of an upload are. */
const pathOf = ({ data }: Lives, id: string): string => join(data, 'files', 'uploads', id);

const sizeOf = async (lives: Lives, id: string): Promise<number> => (await stat(pathOf(lives, id))).size;

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
  t.equal(await sizeOf(lives, id), content.length, 'nothing lies beyond the end');
  await requireOneStory(t, service, id);
  t.notMatch(service.output(), /"level":"(error|fatal)"/);
  return offset;
};

/** What the two lives of the service have told is one log: in order, with one end. */
const requireOneStory = async (t: Test, { url }: RunningService, id: string) => {
  const events = openEvents(url, `/ws/upload/${id}`);
  await events.until('upload_complete');
  const [, ...told] = events.frames;
  const numbers = told.map(({ seq }) => seq);
  t.strictSame(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b),
    'the numbers grow',
  );
  t.equal(told.filter(({ type }) => type === 'upload_started').length, 1);
  t.equal(told.filter(({ type }) => type === 'upload_complete').length, 1);
  events.socket.terminate();
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
  const beyond = patch.content.length - (await sizeOf(lives, patch.id)) + mebibyte;
  await appendFile(pathOf(lives, patch.id), contentOf(3, beyond));
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
  await until(async () => (await sizeOf(lives, halfId)) > mebibyte && (await sizeOf(lives, allId)) > 20 * mebibyte);
  t.equal((await uploads.patch(wholeId, whole, { offset: 0 })).status, 200);
  await first.stop('SIGKILL');
  await slow.over;
  const second = await lives.start();

  await t.test('an upload whose last byte was answered is complete', async (t) => {
    t.match(await uploadClient(second.url).get(wholeId), { status: 'completed', offset: whole.length });
    t.equal(sha256(await uploadClient(second.url).download(wholeId)), sha256(whole));
    await requireOneStory(t, second, wholeId);
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

/** Numbers from 0 to 1 that a seed decides. */
const dice = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** An upload on its way, over however many lives of the service it takes. */
interface Transfer {
  readonly content: Buffer;
  id?: string;
  /** Bytes that were answered with 200. */
  acknowledged: number;
}

/** Asks for the offset and sends the next piece from there; whether that was the last. */
const sendPiece = async (url: string, transfer: Transfer, pieceLength: number): Promise<boolean> => {
  const uploads = uploadClient(url);
  const { content } = transfer;
  transfer.id ??= (await uploads.create({ fileName: 'a.bin', size: content.length })).id;
  const offset = await uploads.offset(transfer.id);
  if (offset < transfer.acknowledged)
    throw new Wrong(`${transfer.acknowledged} bytes answered, the offset is ${offset}`);
  const piece = content.subarray(offset, offset + pieceLength);
  const response = await uploads.patch(transfer.id, piece, { offset });
  if (response.status !== 200) throw new Wrong(`${response.status}: ${await response.text()}`);
  transfer.acknowledged = offset + piece.length;
  if (transfer.acknowledged < content.length) return false;
  if (sha256(await uploads.download(transfer.id)) !== sha256(content)) throw new Wrong('the file has other bytes');
  return true;
};

/** What no kill explains. */
class Wrong extends Error {}

void t.test('whenever the kills come, each upload arrives whole and no acknowledged byte is lost', async (t) => {
  const kills = Number(process.env['KILLS'] ?? 6);
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  t.comment(`SEED=${seed} KILLS=${kills}`);
  const lives = await openLives(t);
  let service = await lives.start();
  let killing = true;
  let finished = 0;

  const uploadOne = async (content: Buffer, random: () => number) => {
    const transfer: Transfer = { content, acknowledged: 0 };
    for (let complete = false; !complete; ) {
      const { url } = service;
      try {
        complete = await sendPiece(url, transfer, 1 + Math.floor(random() * 12 * mebibyte));
      } catch (error) {
        if (error instanceof Wrong || (!killing && url === service.url)) throw error;
        // The service was killed under this request: on with its next life.
        await until(() => service.url !== url);
      }
    }
    finished += 1;
  };
  const uploadMany = async (number: number) => {
    const random = dice(seed + number);
    do await uploadOne(contentOf(number, 1 + Math.floor(random() * 16 * mebibyte)), random);
    while (killing);
  };

  const clients = Promise.all([1, 2, 3].map(uploadMany));
  const random = dice(seed);
  const killer = async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(random() * 500);
      await service.stop('SIGKILL');
      service = await lives.start();
    }
    killing = false;
  };
  await Promise.all([clients, killer()]);
  t.ok(finished >= 3, `${finished} uploads over ${kills} kills`);
  t.notMatch(service.output(), /"level":"(error|fatal)"/);
});
