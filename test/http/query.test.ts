import t from 'tap';
import { toCursor, toJobFilter } from '../../src/http/query.ts';

t.test('a query that says nothing asks for the newest jobs of the client', (t) => {
  const nothing = { flowId: undefined, statuses: undefined, before: undefined, limit: 20 };
  t.strictSame(toJobFilter({}, undefined), { ...nothing, clientId: undefined });
  t.strictSame(toJobFilter({}, 'ann'), { ...nothing, clientId: 'ann' });
  t.end();
});

t.test('text becomes values', (t) => {
  const before = '0'.repeat(31).concat('a');
  const query = { status: 'failed,pending,failed', flowId: 'f', limit: '100', cursor: toCursor(before) };
  t.strictSame(toJobFilter(query, 'ann'), {
    clientId: 'ann',
    flowId: 'f',
    statuses: ['pending', 'failed'],
    before,
    limit: 100,
  });
  t.end();
});

t.test('a cursor that no answer has carried is refused', (t) => {
  for (const cursor of [
    '',
    'x',
    '%',
    toCursor('0'.repeat(31)),
    toCursor('Z'.repeat(32)),
    toCursor(`${'0'.repeat(32)}\n`),
  ]) {
    const expected = { code: 'VALIDATION_ERROR', details: { field: 'querystring.cursor' } };
    t.throws(() => toJobFilter({ cursor }, undefined), expected, JSON.stringify(cursor));
  }
  t.end();
});
