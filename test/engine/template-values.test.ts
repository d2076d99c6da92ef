import { test } from 'tap';
import { templateValues } from '../../src/engine/template-values.ts';

const flow = { flowId: 'thumb', name: 'Thumb', nodes: {}, edges: [] };

test('what templates may name in every node of a job', async (t) => {
  const job = { id: 'j1', clientId: 'shop', params: { width: 5 }, createdAt: '2026-03-09T23:59:59.999Z' };
  t.strictSame(templateValues(flow, job), {
    flow: { id: 'thumb', name: 'Thumb' },
    job: { id: 'j1' },
    params: { width: 5 },
    date: { yyyy: '2026', mm: '03', dd: '09' },
    client: { id: 'shop' },
  });
});

test('a job without a client and parameters has none', async (t) => {
  const values = templateValues(flow, { id: 'j1', createdAt: '2026-12-31T00:00:00.000Z' });
  t.strictSame([values['params'], 'client' in values], [{}, false]);
});
