import { PassThrough } from 'node:stream';
import t from 'tap';
import type { Sink } from '../../src/ports/data-store.ts';
import type { StopReason } from '../../src/ports/owners.ts';
import { type ReceiveOptions, receive } from '../../src/uploads/receive.ts';
import { gate, until } from '../support/wait.ts';

/** A sink that takes everything, or is full until `drain` is called. */
const sinkOf = (full = false) => {
  const chunks: Buffer[] = [];
  const room = gate();
  const sink: Sink = {
    write: (chunk) => {
      chunks.push(chunk);
      return !full;
    },
    drained: () => room.passed,
    sync: async () => ({ offset: 0 }),
    finish: async () => ({ offset: 0 }),
    close: async () => {},
  };
  return { sink, text: () => Buffer.concat(chunks).toString(), drain: room.open };
};

const options = (change: Partial<ReceiveOptions> = {}): ReceiveOptions => ({
  limit: 100,
  pace: { idleMs: 5000, minRate: 0 },
  owner: ownerOf().owner,
  ...change,
});

/** An owner of whom a newcomer can ask things. */
const ownerOf = () => {
  let stopped: StopReason | undefined;
  let awaited = false;
  let stop = () => {};
  const owner: ReceiveOptions['owner'] = {
    get stopped() {
      return stopped;
    },
    onStop: (listener) => {
      stop = listener;
    },
    isAwaited: () => awaited,
  };
  return {
    owner,
    displace: () => {
      stopped = 'displaced';
      stop();
    },
    await: () => {
      awaited = true;
    },
  };
};

t.test('a whole body ends well, and each chunk is told with the bytes so far', async (t) => {
  const body = new PassThrough();
  const { sink, text } = sinkOf();
  const told: number[] = [];
  const received = receive(body, sink, options({ onChunk: (_chunk: Buffer, bytes: number) => told.push(bytes) }));
  body.write('hello ');
  body.end('world');
  t.strictSame(await received, { ending: 'end', bytes: 11 });
  t.equal(text(), 'hello world');
  t.equal(told.at(-1), 11);
});

t.test('a broken connection is cut, and what came is kept', async (t) => {
  const body = new PassThrough();
  const { sink, text } = sinkOf();
  const received = receive(body, sink, options());
  body.write('half');
  await until(() => text() === 'half');
  body.destroy(new Error('ECONNRESET'));
  t.strictSame(await received, { ending: 'cut', bytes: 4 });
});

t.test('a body that was broken before it is read is cut too', async (t) => {
  const body = new PassThrough();
  body.on('error', () => {});
  body.destroy(new Error('ECONNRESET'));
  t.strictSame(await receive(body, sinkOf().sink, options()), { ending: 'cut', bytes: 0 });
});

t.test('what had arrived while the sink was full is kept when the connection breaks', async (t) => {
  const body = new PassThrough();
  const { sink, text } = sinkOf(true);
  const received = receive(body, sink, options());
  body.write('one');
  await until(() => text() === 'one');
  body.write('two');
  await until(() => body.readableLength === 3);
  body.destroy(new Error('ECONNRESET'));
  t.strictSame(await received, { ending: 'cut', bytes: 6 });
  t.equal(text(), 'onetwo');
});

t.test('so is what arrived before it was read at all, but never more than may come', async (t) => {
  const broken = () => {
    const body = new PassThrough();
    body.on('error', () => {});
    for (const chunk of ['four', 'more']) body.push(chunk);
    return body.destroy(new Error('ECONNRESET'));
  };
  t.strictSame(await receive(broken(), sinkOf().sink, options({ limit: 8 })), { ending: 'cut', bytes: 8 });
  const { ending, bytes } = await receive(broken(), sinkOf().sink, options({ limit: 7 }));
  t.equal(ending, 'overrun');
  t.ok(bytes <= 4, `${bytes}`);
});

t.test('the chunk that passes the limit is dropped', async (t) => {
  const body = new PassThrough();
  const { sink, text } = sinkOf();
  const received = receive(body, sink, options({ limit: 5 }));
  body.write('four');
  await until(() => text() === 'four');
  body.write('too much');
  t.strictSame(await received, { ending: 'overrun', bytes: 4 });
  t.equal(text(), 'four');
});

t.test('silence ends it, a slow sink does not', async (t) => {
  const silent = new PassThrough();
  const started = performance.now();
  t.match(await receive(silent, sinkOf().sink, options({ pace: { idleMs: 50, minRate: 0 } })), { ending: 'idle' });
  t.ok(performance.now() - started >= 45);

  const body = new PassThrough();
  const { sink, drain } = sinkOf(true);
  const received = receive(body, sink, options({ pace: { idleMs: 50, minRate: 0 } }));
  body.end('x');
  setTimeout(drain, 200);
  t.strictSame(await received, { ending: 'end', bytes: 1 });
});

t.test('a full sink pauses the body until it has room', async (t) => {
  const body = new PassThrough();
  const { sink, text, drain } = sinkOf(true);
  const received = receive(body, sink, options());
  body.write('one');
  await until(() => text() === 'one');
  t.equal(body.isPaused(), true);
  drain();
  body.end('two');
  t.strictSame(await received, { ending: 'end', bytes: 6 });
});

t.test('it stops when its owner must, before and during', async (t) => {
  const { owner, displace } = ownerOf();
  const received = receive(new PassThrough(), sinkOf().sink, options({ owner }));
  displace();
  t.match(await received, { ending: 'stopped' });
  t.match(await receive(new PassThrough(), sinkOf().sink, options({ owner })), { ending: 'stopped' });
});

t.test('silence gives way to one who waits, and only then', async (t) => {
  const { owner, await: awaited } = ownerOf();
  const body = new PassThrough();
  const { sink, text } = sinkOf();
  const ticks: number[] = [];
  const received = receive(body, sink, options({ owner, onTick: (bytes) => ticks.push(bytes) }));
  body.write('half');
  await until(() => text() === 'half');
  await until(() => ticks.length > 2);
  awaited();
  t.strictSame(await received, { ending: 'silent', bytes: 4 });
  t.ok(ticks.length >= 8, 'two seconds of ticks');
  t.equal(ticks.at(-1), 4);
});

t.test('a body below the minimum rate is too slow', async (t) => {
  const body = new PassThrough();
  const received = receive(body, sinkOf().sink, options({ pace: { idleMs: 200, minRate: 1000 } }));
  const dripping = setInterval(() => body.write('x'), 20);
  t.teardown(() => clearInterval(dripping));
  t.match(await received, { ending: 'slow' });
});

t.test('a sink that fails rejects', async (t) => {
  const body = new PassThrough();
  const { sink } = sinkOf(true);
  const broken = { ...sink, drained: () => Promise.reject(new Error('disk')) };
  const received = receive(body, broken, options());
  body.write('x');
  await t.rejects(received, { message: 'disk' });
});
