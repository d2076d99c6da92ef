import t from 'tap';
import { anyone, mayRead } from '../../src/domain/reader.ts';

t.test('a record is for its client, and for whoever has a signed address', (t) => {
  t.equal(mayRead('ann', { clientId: 'ann' }), true);
  t.equal(mayRead('ann', { clientId: 'bob' }), false);
  t.equal(mayRead('ann', {}), false);
  t.equal(mayRead(undefined, { clientId: 'ann' }), false);
  t.equal(mayRead(undefined, {}), true);
  t.equal(mayRead(anyone, { clientId: 'ann' }), true);
  t.end();
});
