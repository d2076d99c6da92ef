import t from 'tap';
import type { UploadRecord } from '../../src/domain/upload.ts';
import type { Durable, Sink } from '../../src/ports/data-store.ts';
import type { Entry } from '../../src/ports/kv-store.ts';
import { Commits } from '../../src/uploads/commits.ts';
import type { PublishUpload } from '../../src/uploads/records.ts';
import { realClock } from '../support/clock.ts';
import { sampleUpload } from '../support/sample-records.ts';
import { gate } from '../support/wait.ts';

const mebibyte = 1_048_576;

/** Commits over a sink that says what `sync` says, and a store that keeps what is published. */
const setUp = (sync: () => Promise<Durable>, options: { enabled?: boolean; lost?: boolean } = {}) => {
  const published: UploadRecord[] = [];
  const publish: PublishUpload = async ({ value, expectedVersion, progress }) => {
    if (progress !== true) throw new Error('a commit on the way is progress');
    if (options.lost === true) return undefined;
    published.push(value);
    return { value, version: expectedVersion + 1 };
  };
  const entry: Entry<UploadRecord> = { value: sampleUpload({ size: 100 * mebibyte }), version: 1 };
  const sink = { sync } as Sink;
  return {
    published,
    commits: new Commits(
      { publish, clock: realClock, uploadTtl: 60_000, quota: {} },
      sink,
      entry,
      options.enabled ?? true,
    ),
  };
};

t.test('sixteen MiB are committed on the way, with what the sink needs to go on', async (t) => {
  const { commits, published } = setUp(async () => ({ offset: 15 * mebibyte, state: { part: 2 } }));
  commits.progressed(16 * mebibyte - 1);
  t.match(await commits.settled(), { version: 1, value: { offset: 0 } }, 'not before');
  commits.progressed(16 * mebibyte);
  const settled = await commits.settled();
  t.match(settled, { version: 2, value: { offset: 15 * mebibyte, status: 'uploading', sink: { part: 2 } } });
  t.strictSame(published, [settled.value]);
  commits.progressed(31 * mebibyte - 1);
  t.equal((await commits.settled()).version, 2, 'sixteen more than are durable');
});

t.test('so is what a second has brought', async (t) => {
  let now = 0;
  t.intercept(performance, 'now', { value: () => now });
  const { commits } = setUp(async () => ({ offset: 10 }));
  now = 999;
  commits.progressed(10);
  t.equal((await commits.settled()).version, 1);
  now = 1000;
  commits.progressed(10);
  t.match(await commits.settled(), { version: 2, value: { offset: 10 } });
});

t.test('only one commit runs at a time', async (t) => {
  const { passed, open } = gate();
  let syncs = 0;
  const { commits } = setUp(async () => {
    syncs += 1;
    await passed;
    return { offset: syncs };
  });
  for (const count of [16, 32, 48]) commits.progressed(count * mebibyte);
  t.equal(syncs, 1);
  open();
  t.equal((await commits.settled()).value.offset, 1);
  commits.progressed(64 * mebibyte);
  t.match(await commits.settled(), { version: 3, value: { offset: 2 } });
});

t.test('all-or-nothing bodies commit nothing on the way', async (t) => {
  const { commits } = setUp(() => Promise.reject(new Error('never asked')), { enabled: false });
  commits.progressed(64 * mebibyte);
  t.equal((await commits.settled()).version, 1);
});

t.test('what is not durable yet is not committed', async (t) => {
  const { commits, published } = setUp(async () => ({ offset: 0 }));
  commits.progressed(16 * mebibyte);
  t.equal((await commits.settled()).version, 1);
  t.strictSame(published, []);
});

t.test('a commit that fails or loses leaves the record as it was', async (t) => {
  const failing = setUp(() => Promise.reject(new Error('disk')));
  failing.commits.progressed(16 * mebibyte);
  t.equal((await failing.commits.settled()).version, 1);
  const losing = setUp(async () => ({ offset: 5 }), { lost: true });
  losing.commits.progressed(16 * mebibyte);
  t.match(await losing.commits.settled(), { version: 1, value: { offset: 0 } });
});

t.test('what the store has the record keep is written over the newest version, between the commits', async (t) => {
  const { passed, open } = gate();
  const published: [UploadRecord, boolean | undefined][] = [];
  const publish: PublishUpload = async ({ value, expectedVersion, progress }) => {
    published.push([value, progress]);
    return { value, version: expectedVersion + 1 };
  };
  const sync = async () => {
    await passed;
    return { offset: 5, state: { part: 1 } };
  };
  const entry: Entry<UploadRecord> = { value: sampleUpload({ size: 10, offset: 0 }), version: 1 };
  const commits = new Commits({ publish, clock: realClock, uploadTtl: 60_000, quota: {} }, { sync }, entry, true);
  commits.progressed(16 * mebibyte);
  const kept = commits.keep((last) => ({ ...last, state: { ...(last.state as object), next: 17 } }));
  open();
  await kept;
  t.match(published[1], [{ offset: 5, sink: { part: 1, next: 17 } }, false], 'the offset stays, and nobody is told');
  await commits.keep(() => ({ offset: 10, state: 'all' }));
  t.match(published[2], [{ offset: 10, sink: 'all', status: 'finalizing' }, true], 'recovery completes what is full');
  t.equal((await commits.settled()).version, 4);
});

t.test('a record that is another writer’s by now keeps nothing', async (t) => {
  const { commits } = setUp(async () => ({ offset: 0 }), { lost: true });
  await t.rejects(
    commits.keep(() => ({ offset: 5 })),
    { code: 'INVALID_OFFSET' },
  );
});
