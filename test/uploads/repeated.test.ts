/** Bodies that come again because the answer to them was lost (WIRE 1, rules 3 and 11). */
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { type UploadRig, uploadRig } from '../support/upload-rig.ts';
import { gate, until } from '../support/wait.ts';

const chunked = (...parts: readonly string[]) => Readable.from(parts.map((part) => Buffer.from(part)));

/** Appends without an offset; `arrived`: whether the client hears of it. */
const send = async ({ uploads }: UploadRig, id: string, text: string, arrived = true) => {
  const body = { contentLength: text.length, body: chunked(text) };
  return uploads.append({ id, ...body, delivered: async () => arrived });
};

/** The same, and the client is known not to have heard of it. */
const sendInVain = async (rig: UploadRig, id: string, text: string) => {
  await send(rig, id, text, false);
  await until(async () => (await rig.entry(id)).value.undelivered !== undefined);
};

const stored = async ({ uploads }: UploadRig, id: string) => {
  const { store, key } = await uploads.file(id, undefined);
  return String(await buffer(await store.read(key)));
};

t.test('bytes whose answer was lost are not appended twice', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 10 });
  await sendInVain(rig, id, 'aaaaa');
  t.match(await send(rig, id, 'aaaaa'), { offset: 5, status: 'uploading' });
  t.match(await send(rig, id, 'aaaaa'), { status: 'completed' }, 'but once that is answered, they are new ones');
  t.equal(await stored(rig, id), 'aaaaaaaaaa');
});

t.test('nor a third time, when the second answer was lost as well', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 10 });
  await sendInVain(rig, id, 'aaaaa');
  await sendInVain(rig, id, 'aaaaa');
  t.match(await send(rig, id, 'aaaaa'), { offset: 5 });
  t.match(await send(rig, id, 'bbbbb'), { status: 'completed' });
  t.equal(await stored(rig, id), 'aaaaabbbbb');
});

t.test('the same bytes after an answer that arrived are appended', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 10 });
  await send(rig, id, 'aaaaa');
  t.match(await send(rig, id, 'aaaaa'), { status: 'completed' });
  t.equal(await stored(rig, id), 'aaaaaaaaaa');
});

t.test('other bytes after a lost answer are appended, and that answer is forgotten', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 12 });
  await sendInVain(rig, id, 'aaaa');
  await send(rig, id, 'bbbb');
  t.match(await send(rig, id, 'aaaa'), { status: 'completed' });
  t.equal(await stored(rig, id), 'aaaabbbbaaaa');
});

t.test('the last body may come again, whole or chunked, though it would pass the size', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 8 });
  await send(rig, id, 'aaa');
  await sendInVain(rig, id, 'bbbbb');
  t.match(await send(rig, id, 'bbbbb'), { status: 'completed', offset: 8 });
  t.match(await rig.uploads.append({ id, body: chunked('bb', 'bbb') }), { status: 'completed' });
  await t.rejects(send(rig, id, 'ccccc'), { code: 'ERR_SIZE_EXCEEDED' }, 'but no other');
  await t.rejects(send(rig, id, 'bbbbbb'), { code: 'ERR_SIZE_EXCEEDED' });
  await t.rejects(rig.uploads.append({ id, body: chunked('bbbb') }), { code: 'ERR_SIZE_EXCEEDED' });
  t.equal(await stored(rig, id), 'aaabbbbb');
});

t.test('one that would pass the size while some bytes are missing is told from a new one by its bytes', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 6 });
  await sendInVain(rig, id, 'aaaa');
  t.match(await send(rig, id, 'aaaa'), { offset: 4 });
  await t.rejects(send(rig, id, 'bbbb'), { code: 'ERR_SIZE_EXCEEDED' });
  t.match(await send(rig, id, 'bb'), { status: 'completed' });
  t.equal(await stored(rig, id), 'aaaabb');
});

t.test('a body that is displaced while it is recorded is refused, and known when it comes again', async (t) => {
  const { passed, open } = gate();
  let syncing = false;
  const rig: UploadRig = await uploadRig(t, {
    wrapData: (store) => ({
      ...store,
      async append(key, from, options) {
        const sink = await store.append(key, from, options);
        const finish = async (end?: { length?: number }) => {
          syncing = true;
          await passed;
          return sink.finish(end);
        };
        return { ...sink, finish };
      },
    }),
  });
  const { id } = await rig.uploads.create({ size: 10 });
  const refused = t.rejects(send(rig, id, 'aaaaa'), { code: 'INVALID_OFFSET' });
  await until(() => syncing);
  const head = rig.uploads.head(id, undefined);
  open();
  t.match(await head, { offset: 5 });
  await refused;
  t.match(await send(rig, id, 'aaaaa'), { offset: 5 });
});

t.test('the last body of a completed upload may come again with its offset, if it is the same', async (t) => {
  const rig = await uploadRig(t);
  const { id } = await rig.uploads.create({ size: 8 });
  const at = (offset: number, text: string, contentLength?: number) =>
    rig.uploads.append({ id, offset, contentLength, body: chunked(text) });
  await at(0, 'aaa', 3);
  await at(3, 'bbbbb', 5);
  t.match(await at(3, 'bbbbb', 5), { status: 'completed', offset: 8 });
  t.match(await at(3, 'bbbbb'), { status: 'completed' }, 'chunked too');
  t.match(await at(8, '', 0), { status: 'completed' });
  await t.rejects(at(3, 'ccccc', 5), { code: 'INVALID_OFFSET', details: { 'expected-offset': 8 } });
  await t.rejects(at(3, 'bbbb', 4), { code: 'INVALID_OFFSET' });
  await t.rejects(at(3, 'bbbb'), { code: 'INVALID_OFFSET' });
  await t.rejects(at(0, 'aaa', 3), { code: 'INVALID_OFFSET' }, 'one that was not the last');
  t.equal(await stored(rig, id), 'aaabbbbb');
});

t.test('one that is cut is no success', async (t) => {
  const { uploads, append } = await uploadRig(t);
  const { id } = await uploads.create({ size: 5 });
  await append(id, 'hello');
  const body = new PassThrough();
  const cut = uploads.append({ id, offset: 0, contentLength: 5, body });
  body.write('hel');
  await until(() => body.readableLength === 0);
  body.destroy(new Error('ECONNRESET'));
  await t.rejects(cut, { code: 'UNAVAILABLE' });
});
