/** What every data store does, whatever it is made of. */
import { createHash, randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import type { DataStore, Durable, Sink } from '../../src/ports/data-store.ts';
import type { Make } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const text = (content: string): Buffer => Buffer.from(content);
const start: Durable = { offset: 0 };

/** What is left of a `Durable` after its way through the record. */
const recorded = (durable: Durable): Durable => JSON.parse(JSON.stringify(durable));

const take = async (sink: Sink, chunk: Buffer): Promise<void> => {
  if (!sink.write(chunk)) await sink.drained();
};

/** One PATCH: everything given is written; `last` ends the upload there. */
const patch = async (store: DataStore, key: string, from: Durable, content: Buffer, last = false): Promise<Durable> => {
  const sink = await store.append(key, from);
  try {
    await take(sink, content);
    return recorded(await sink.finish(last ? { length: from.offset + content.length } : {}));
  } finally {
    await sink.close();
  }
};

const put = (store: DataStore, key: string, content: string): Promise<Durable> =>
  patch(store, key, start, text(content), true);

const content = async (store: DataStore, key: string): Promise<string> =>
  (await buffer(await store.read(key))).toString();

type Case = (title: string, run: (t: Test, store: DataStore) => Promise<void>) => void;

/** Runs the suite; `name` is shown in its titles. */
export const testDataStore = (name: string, make: Make<DataStore>): void => {
  const test: Case = (title, run) => {
    void t.test(`${name}: ${title}`, async (t) => {
      const { driver, teardown } = await make();
      t.teardown(teardown);
      await run(t, driver);
    });
  };
  describing(test);
  writing(test);
  resuming(test);
  reading(test);
  moving(test);
  removing(test);
};

const describing = (test: Case): void => {
  test('it says what it is and what it can', async (t, store) => {
    t.match(store.type, /^[a-z0-9-]+$/);
    const { minChunkSize, optimalChunkSize, maxChunkSize, maxConcurrentUploads } = store.capabilities;
    t.ok(0 < minChunkSize && minChunkSize <= optimalChunkSize && optimalChunkSize <= maxChunkSize);
    t.ok(maxConcurrentUploads >= 1);
    t.equal(store.capabilities.supportsResumableUploads, true);
  });

  test('it answers a ping', async (t, store) => {
    await t.resolves(store.ping());
  });
};

const writing = (test: Case): void => {
  test('a file that came in one piece is read back', async (t, store) => {
    const durable = await put(store, 'uploads/one', 'hello world');
    t.equal(durable.offset, 11);
    t.equal(await content(store, 'uploads/one'), 'hello world');
  });

  test('chunks keep their order, whatever their sizes', async (t, store) => {
    const sink = await store.append('uploads/many', start);
    const chunks = Array.from({ length: 3000 }, (_, index) => text(`${index},`));
    for (const chunk of [text(''), ...chunks, text('')]) await take(sink, chunk);
    const length = Buffer.concat(chunks).length;
    t.equal((await sink.finish({ length })).offset, length);
    await sink.close();
    t.equal(await content(store, 'uploads/many'), Buffer.concat(chunks).toString());
  });

  test('a large file arrives whole, with syncs and pauses on the way', async (t, store) => {
    const chunk = randomBytes(65_536);
    const count = 192;
    const sent = createHash('sha256');
    const sink = await store.append('uploads/large', start);
    let written = 0;
    let reached = 0;
    let syncing = Promise.resolve();
    for (let index = 0; index < count; index += 1) {
      const piece = Buffer.from(chunk);
      piece.writeUInt32BE(index);
      sent.update(piece);
      written += piece.length;
      if (!sink.write(piece)) await sink.drained();
      if (index % 48 !== 47) continue;
      await syncing;
      const limit = written;
      syncing = sink.sync().then(({ offset }) => {
        t.ok(offset >= reached && offset <= limit, 'a sync never claims more than was taken, nor less than before');
        reached = offset;
      });
    }
    await syncing;
    t.equal((await sink.finish({ length: written })).offset, count * chunk.length);
    await sink.close();
    const received = createHash('sha256');
    for await (const piece of await store.read('uploads/large')) received.update(piece);
    t.equal(received.digest('hex'), sent.digest('hex'));
  });

  test('an empty file is a file', async (t, store) => {
    t.equal((await put(store, 'uploads/empty', '')).offset, 0);
    t.equal(await content(store, 'uploads/empty'), '');
  });

  test('files that are written at the same time do not mix', async (t, store) => {
    const keys = ['uploads/a', 'uploads/a.b', 'uploads/a-b/c', 'other/a'];
    const sinks = await Promise.all(keys.map((key) => store.append(key, start)));
    for (let round = 0; round < 50; round += 1) {
      for (const [index, sink] of sinks.entries()) await take(sink, text(`${index}`));
    }
    await Promise.all(sinks.map((sink) => sink.finish({ length: 50 })));
    await Promise.all(sinks.map((sink) => sink.close()));
    for (const [index, key] of keys.entries()) t.equal(await content(store, key), `${index}`.repeat(50));
  });
};

const resuming = (test: Case): void => {
  test('an upload continues where it was cut', async (t, store) => {
    const first = await patch(store, 'uploads/cut', start, text('hello '));
    t.equal(first.offset, 6);
    const second = await patch(store, 'uploads/cut', first, text('wor'));
    t.equal(second.offset, 9);
    const third = await patch(store, 'uploads/cut', second, text('ld'), true);
    t.equal(third.offset, 11);
    t.equal(await content(store, 'uploads/cut'), 'hello world');
  });

  test('a PATCH without bytes may end an upload', async (t, store) => {
    const first = await patch(store, 'uploads/late-end', start, text('all of it'));
    t.equal((await patch(store, 'uploads/late-end', first, text(''), true)).offset, 9);
    t.equal(await content(store, 'uploads/late-end'), 'all of it');
  });

  test('what was synced is there although the sink never finished', async (t, store) => {
    const whole = randomBytes(3_000_000);
    const sink = await store.append('uploads/lost', start);
    await take(sink, whole.subarray(0, 2_000_000));
    const durable = recorded(await sink.sync());
    t.ok(durable.offset <= 2_000_000);
    await take(sink, text('bytes of a sink that is let go'));
    await sink.close();
    await patch(store, 'uploads/lost', durable, whole.subarray(durable.offset), true);
    t.ok((await buffer(await store.read('uploads/lost'))).equals(whole));
  });

  test('bytes beyond the offset are overwritten, and cut off at the end', async (t, store) => {
    const first = await patch(store, 'uploads/beyond', start, text('abcd'));
    // Stored, but the offset never reached the record.
    await patch(store, 'uploads/beyond', first, text('EFGHIJKL'));
    await patch(store, 'uploads/beyond', first, text('ef'), true);
    t.equal(await content(store, 'uploads/beyond'), 'abcdef');
  });

  test('a first PATCH whose offset was never recorded leaves nothing behind', async (t, store) => {
    await patch(store, 'uploads/again', start, text('the first try was longer'));
    await put(store, 'uploads/again', 'second');
    t.equal(await content(store, 'uploads/again'), 'second');
  });
};

const reading = (test: Case): void => {
  test('a range is the bytes from its start up to, not including, its end', async (t, store) => {
    await put(store, 'uploads/range', '0123456789');
    const range = async (start: number, end: number) =>
      (await buffer(await store.read('uploads/range', { start, end }))).toString();
    t.equal(await range(0, 10), '0123456789');
    t.equal(await range(0, 1), '0');
    t.equal(await range(3, 7), '3456');
    t.equal(await range(9, 10), '9');
    t.equal(await range(4, 4), '');
  });

  test('a stream that is given up does no harm', async (t, store) => {
    const whole = randomBytes(2_000_000);
    await patch(store, 'uploads/given-up', start, whole, true);
    const stream = await store.read('uploads/given-up');
    stream.once('data', () => stream.destroy());
    await new Promise((resolve) => stream.once('close', resolve));
    t.ok((await buffer(await store.read('uploads/given-up'))).equals(whole));
  });

  test('a missing key is FILE_NO_LONGER_EXISTS', async (t, store) => {
    const missing = { code: 'FILE_NO_LONGER_EXISTS' };
    await t.rejects(store.read('uploads/none'), missing);
    await t.rejects(store.read('uploads/none', { start: 2, end: 2 }), missing);
    await t.rejects(store.materialize('uploads/none', await temporaryDirectory(t)), missing);
  });

  test('a worker can read the whole file at a path', async (t, store) => {
    await put(store, 'uploads/worker', 'for a worker');
    const path = await store.materialize('uploads/worker', await temporaryDirectory(t));
    t.equal(await readFile(path, 'utf8'), 'for a worker');
    t.equal(await content(store, 'uploads/worker'), 'for a worker');
  });
};

const moving = (test: Case): void => {
  test('a local file is moved to its key', async (t, store) => {
    const path = join(await temporaryDirectory(t), 'result.bin');
    await writeFile(path, 'a result');
    await store.publish('jobs/j1/resize/0-abc.jpg', path);
    t.equal(await content(store, 'jobs/j1/resize/0-abc.jpg'), 'a result');
    await t.rejects(stat(path), { code: 'ENOENT' });
  });

  test('publishing again replaces what was there', async (t, store) => {
    const directory = await temporaryDirectory(t);
    for (const version of ['the long first version', 'second']) {
      await writeFile(join(directory, 'result'), version);
      await store.publish('jobs/j1/out/0', join(directory, 'result'));
    }
    t.equal(await content(store, 'jobs/j1/out/0'), 'second');
  });

  test('publishing what is not there is an error, and makes nothing', async (t, store) => {
    await t.rejects(store.publish('jobs/j1/out/0', join(await temporaryDirectory(t), 'none')), {
      code: 'STORAGE_ERROR',
    });
    t.same(await store.list(''), []);
  });
};

const removing = (test: Case): void => {
  test('a removed file is gone, and may be removed again', async (t, store) => {
    await put(store, 'jobs/j1/a/0', 'x');
    await put(store, 'jobs/j1/a/1', 'y');
    await store.remove('jobs/j1/a/0');
    await t.rejects(store.read('jobs/j1/a/0'), { code: 'FILE_NO_LONGER_EXISTS' });
    await t.resolves(store.remove('jobs/j1/a/0'));
    await t.resolves(store.remove('nowhere/at/all'));
    t.equal(await content(store, 'jobs/j1/a/1'), 'y');
  });

  test('a key can be used again after its removal', async (t, store) => {
    await put(store, 'uploads/x', 'the first, a longer one');
    await store.remove('uploads/x');
    await put(store, 'uploads/x', 'second');
    t.equal(await content(store, 'uploads/x'), 'second');
  });

  test('the keys that begin with a prefix are listed, and no others', async (t, store) => {
    const keys = ['jobs/j1/a/0', 'jobs/j1/b/0', 'jobs/j10/a/0', 'jobs/j2/a/0', 'uploads/j1'];
    for (const key of keys) await put(store, key, key);
    const list = async (prefix: string) => [...(await store.list(prefix))].sort();
    t.same(await list('jobs/j1/'), ['jobs/j1/a/0', 'jobs/j1/b/0']);
    t.same(await list('jobs/j1'), ['jobs/j1/a/0', 'jobs/j1/b/0', 'jobs/j10/a/0']);
    t.same(await list('uploads/j1'), ['uploads/j1']);
    t.same(await list(''), keys);
    t.same(await list('jobs/j3'), []);
    t.same(await list('none/at/all/'), []);
  });
};
