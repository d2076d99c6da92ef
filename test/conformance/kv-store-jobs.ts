/** The part of the suite of key-value stores that is about listing jobs. */
import { jobStatuses } from '../../src/domain/job.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { sampleJob, sampleUpload } from '../support/sample-records.ts';
import type { Case } from './kv-store-counters.ts';

export const jobs = (test: Case): void => {
  const add = (store: KvStore, id: string, fields: Parameters<typeof sampleJob>[0] = {}, expectedVersion = 0) =>
    store.commit({ collection: 'jobs', id, value: sampleJob({ id, ...fields }), expectedVersion });
  const any = { clientId: undefined, limit: 10 };

  test('jobs are listed with the largest id first, page after page', async (t, store) => {
    for (const id of ['03', '01', '05', '02', '04']) await add(store, id);
    t.same(await store.listJobs(any), ['05', '04', '03', '02', '01']);
    t.same(await store.listJobs({ ...any, limit: 2 }), ['05', '04']);
    await add(store, '06');
    t.same(await store.listJobs({ ...any, limit: 2, before: '04' }), ['03', '02'], 'whatever is added meanwhile');
    t.same(await store.listJobs({ ...any, before: '02' }), ['01']);
    t.same(await store.listJobs({ ...any, before: '01' }), []);
    t.same(await store.listJobs({ ...any, before: '035' }), ['03', '02', '01'], 'the id need not be there any more');
  });

  test('a definition is pinned for as long as a job has it', async (t, store) => {
    const definitionHash = 'hash';
    t.equal(await store.isPinned('hash'), false);
    await add(store, '01', { definitionHash });
    await add(store, '02', { definitionHash, clientId: 'ann' });
    await add(store, '01', { definitionHash, status: 'completed' }, 1);
    t.equal(await store.isPinned('hash'), true);
    t.equal(await store.isPinned('has'), false);
    await store.remove('jobs', '01');
    t.equal(await store.isPinned('hash'), true, 'another has it still');
    await store.remove('jobs', '02');
    t.equal(await store.isPinned('hash'), false);
  });

  test('a store without jobs lists none, whatever else is in it', async (t, store) => {
    await store.commit({ collection: 'uploads', id: 'u1', value: sampleUpload(), expectedVersion: 0 });
    t.same(await store.listJobs(any), []);
  });

  test('each client has its own list, and those without an id share one', async (t, store) => {
    await add(store, '01', { clientId: 'ann' });
    await add(store, '02', { clientId: '7' });
    await add(store, '03');
    t.same(await store.listJobs({ ...any, clientId: 'ann' }), ['01']);
    t.same(await store.listJobs({ ...any, clientId: '7' }), ['02']);
    t.same(await store.listJobs(any), ['03']);
    t.same(await store.listJobs({ ...any, clientId: 'bob' }), []);
    t.same(await store.listJobs({ ...any, clientId: 'null' }), []);
  });

  test('a list may be narrowed to statuses, to a flow, and to both', async (t, store) => {
    for (const [index, status] of jobStatuses.entries()) {
      await add(store, `a${index}`, { status, flowId: 'f', clientId: 'ann' });
      await add(store, `b${index}`, { status, flowId: 'g', clientId: 'ann' });
      await add(store, `c${index}`, { status, flowId: 'f' });
    }
    const ann = { clientId: 'ann', limit: 10 };
    const index = jobStatuses.indexOf('failed');
    t.same(await store.listJobs({ ...ann, statuses: ['failed'] }), [`b${index}`, `a${index}`]);
    t.same(await store.listJobs({ ...ann, statuses: ['running', 'pending'], limit: 3 }), ['b1', 'b0', 'a1']);
    t.same(await store.listJobs({ ...ann, flowId: 'f' }), ['a5', 'a4', 'a3', 'a2', 'a1', 'a0']);
    t.same(await store.listJobs({ ...ann, flowId: 'f', before: 'a2' }), ['a1', 'a0']);
    t.same(await store.listJobs({ ...ann, flowId: 'g', statuses: ['failed', 'paused'] }), ['b4', 'b2']);
    t.same(await store.listJobs({ ...ann, flowId: 'h' }), []);
    t.same(await store.listJobs({ ...ann, statuses: [] }), []);
  });

  test('a job moves within the lists with each write, and leaves them when it is removed', async (t, store) => {
    await add(store, '01', { status: 'pending' });
    await add(store, '02', { status: 'pending' });
    await add(store, '01', { status: 'running' }, 1);
    t.same(await store.listJobs({ ...any, statuses: ['pending'] }), ['02']);
    t.same(await store.listJobs({ ...any, statuses: ['running'] }), ['01']);
    await add(store, '01', { status: 'failed' }, 1);
    t.same(await store.listJobs({ ...any, statuses: ['running'] }), ['01'], 'but not with a write that came too late');
    t.same(await store.listJobs({ ...any, flowId: 'flow-1' }), ['02', '01'], 'and it is in a list once');
    await store.remove('jobs', '01');
    t.same(await store.listJobs(any), ['02']);
    t.same(await store.listJobs({ ...any, flowId: 'flow-1' }), ['02']);
  });

  test('another replica lists what this one wrote', async (t, store, { peer = store }) => {
    await add(store, '01');
    t.same(await peer.listJobs(any), ['01']);
  });
};
