import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { JobRecord, JobStatus } from '../../src/domain/job.ts';
import { sqliteKvStore } from '../../src/drivers/kv/sqlite/index.ts';
import { createList } from '../../src/engine/list.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { realClock as clock } from '../support/clock.ts';
import { sampleJob } from '../support/sample-records.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const openStore = async (t: Test): Promise<KvStore> => {
  const path = join(await temporaryDirectory(t), 'kv.db');
  const kvStore = sqliteKvStore({ path, durability: 'process', clock });
  t.teardown(kvStore.close);
  return kvStore;
};
const add = (kvStore: KvStore, id: string, status: JobStatus = 'pending') =>
  kvStore.commit({ collection: 'jobs', id, value: sampleJob({ id, status }), expectedVersion: 0 });
const ids = (jobs: readonly JobRecord[]) => jobs.map(({ id }) => id);

t.test('every job is on one page, whatever is started between the pages', async (t) => {
  const kvStore = await openStore(t);
  const list = createList({ kvStore });
  for (let index = 10; index < 15; index++) await add(kvStore, String(index));
  const seen: string[] = [];
  for (let before: string | undefined, page = 0; page === 0 || before !== undefined; page++) {
    const { items, next } = await list({ clientId: undefined, before, limit: 2 });
    t.ok(items.length <= 2);
    seen.push(...ids(items));
    before = next;
    await add(kvStore, String(20 + page));
  }
  t.strictSame(seen, ['14', '13', '12', '11', '10']);
});

t.test('there is a next page only when something is on it', async (t) => {
  const kvStore = await openStore(t);
  const list = createList({ kvStore });
  t.strictSame(await list({ clientId: undefined, limit: 2 }), { items: [] });
  for (const id of ['1', '2']) await add(kvStore, id);
  t.equal((await list({ clientId: undefined, limit: 2 })).next, undefined);
  t.equal((await list({ clientId: undefined, limit: 1 })).next, '2');
});

t.test('what has changed or gone since it was found is left out, and the pages go on', async (t) => {
  const kvStore = await openStore(t);
  for (const id of ['1', '2', '3']) await add(kvStore, id);
  const listJobs: KvStore['listJobs'] = async (filter) => {
    const found = await kvStore.listJobs(filter);
    const value = sampleJob({ id: '3', status: 'running' });
    await kvStore.commit({ collection: 'jobs', id: '3', value, expectedVersion: 1 });
    await kvStore.remove('jobs', '2');
    return found;
  };
  const list = createList({ kvStore: { ...kvStore, listJobs } });
  const { items, next } = await list({ clientId: undefined, statuses: ['pending'], limit: 2 });
  t.strictSame([ids(items), next], [[], '2']);
});
