import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { defineFlow } from '../../../src/domain/define-flow.ts';
import { inputNode } from '../../../src/index.ts';
import { type Answer, call } from '../../support/api.ts';
import { serviceInProcess } from '../../support/service-in-process.ts';

const flow = (flowId: string) => defineFlow({ flowId, name: flowId, nodes: [inputNode('file')], edges: [] });
t.test('GET /api/jobs', async (t) => {
  const service = await serviceInProcess({ flows: { one: flow('one'), two: flow('two') } });
  t.teardown(() => service.close());
  const { url } = service;
  const list = (query = '') => call(url, 'GET', `/api/jobs${query}`);
  const ids = (items: readonly Answer[]) => items.map(({ id }) => id);

  t.strictSame((await list()).body, { items: [] }, 'without jobs the list is empty');
  const started: Answer[] = [];
  for (const flowId of ['one', 'two', 'one', 'two', 'one']) {
    started.unshift((await call(url, 'POST', `/api/flow/${flowId}/default`, {})).body);
    // Ids are in order from one millisecond to the next.
    await sleep(2);
  }
  const [last] = started;
  await call(url, 'POST', `/api/jobs/${last.id}/cancel`);

  await t.test('the newest job is first, each as its status shows it', async (t) => {
    const { status, body } = await list();
    t.equal(status, 200);
    t.strictSame(ids(body.items), ids(started));
    t.equal(body.nextCursor, undefined);
    for (const item of body.items) {
      t.strictSame(item, (await call(url, 'GET', `/api/jobs/${item.id}/status`)).body);
    }
  });

  await t.test('cursors lead through all of them', async (t) => {
    const first = (await list('?limit=2')).body;
    t.match(first.nextCursor, /^[\w-]+$/);
    const second = (await list(`?limit=2&cursor=${first.nextCursor}`)).body;
    const third = (await list(`?limit=2&cursor=${second.nextCursor}`)).body;
    t.strictSame(ids([...first.items, ...second.items, ...third.items]), ids(started));
    t.equal(third.nextCursor, undefined);
  });

  await t.test('filters are by status, by flow, and by both', async (t) => {
    const found = async (query: string) => ids((await list(query)).body.items);
    t.strictSame(await found('?status=cancelled'), [last.id]);
    t.strictSame(await found('?status=completed,failed'), []);
    t.strictSame(await found('?status=cancelled,paused&limit=100'), ids(started));
    t.strictSame(await found('?flowId=two'), ids(started.filter(({ flowId }) => flowId === 'two')));
    t.strictSame(await found('?flowId=one&status=paused'), [started[2].id, started[4].id]);
    t.strictSame(await found('?flowId=none'), []);
  });

  await t.test('what cannot be asked for is 400 with the name of the field', async (t) => {
    const cases = [
      ['status=done', 'status'],
      ['status=', 'status'],
      ['status=paused,', 'status'],
      ['status=paused&status=failed', 'status'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=ten', 'limit'],
      ['limit=1e1', 'limit'],
      ['cursor=nonsense', 'cursor'],
      [`cursor=${'a'.repeat(200)}`, 'cursor'],
      ['offset=3', 'offset'],
    ] as const;
    for (const [query, field] of cases) {
      const { status, body } = await list(`?${query}`);
      t.equal(status, 400, query);
      t.match(body, { code: 'VALIDATION_ERROR', details: { field: `querystring.${field}` } });
    }
  });
});
