import t from 'tap';
import { Value } from 'typebox/value';
import { outputNode } from '../../src/nodes/index.ts';

t.test('it takes everything and hands it on', async (t) => {
  t.match({ ...outputNode }, { kind: 'output', name: 'Save to Storage', role: 'output', accepts: ['*/*'] });
  t.same(outputNode.produces({}, ['image/png', 'text/*']), ['image/png', 'text/*']);
  t.ok(Value.Check(outputNode.options, {}));
  t.notOk(Value.Check(outputNode.options, { path: 'x' }));
  t.equal(outputNode.run, undefined, 'the engine does it');
});
