import t from 'tap';
import { createOwners } from '../../src/uploads/owners.ts';
import { quiet } from '../support/wait.ts';

t.test('the first writer gets the upload at once, another upload too', async (t) => {
  const owners = createOwners({ waitMs: 1000 });
  const writer = await owners.acquire('a');
  t.equal(writer.stopped.aborted, false);
  await owners.acquire('b');
});

t.test('a second writer waits until the first lets go', async (t) => {
  const owners = createOwners({ waitMs: 5000 });
  const first = await owners.acquire('a');
  let got = false;
  const second = owners.acquire('a').then((writer) => {
    got = true;
    return writer;
  });
  await quiet();
  t.equal(got, false);
  first.release();
  t.equal((await second).stopped.aborted, false);
});

t.test('a writer that waits too long is told to come again', async (t) => {
  const owners = createOwners({ waitMs: 20 });
  await owners.acquire('a');
  await t.rejects(owners.acquire('a'), { code: 'UPLOAD_LOCKED', retryAfter: 1, status: 423 });
});

t.test('displacing stops the writer and waits until it has let go', async (t) => {
  const owners = createOwners({ waitMs: 1000 });
  const writer = await owners.acquire('a');
  let displaced = false;
  const displacing = owners.displace('a').then(() => {
    displaced = true;
  });
  t.equal(writer.stopped.reason, 'displaced');
  await quiet();
  t.equal(displaced, false);
  writer.release();
  await displacing;
  await owners.displace('nobody');
});

t.test('draining stops all writers and refuses new ones', async (t) => {
  const owners = createOwners({ waitMs: 1000 });
  const writers = [await owners.acquire('a'), await owners.acquire('b')];
  const drained = owners.drain();
  t.strictSame(
    writers.map((writer) => writer.stopped.reason),
    ['draining', 'draining'],
  );
  for (const writer of writers) writer.release();
  await drained;
  await t.rejects(owners.acquire('c'), { code: 'UNAVAILABLE', retryAfter: 1 });
});
