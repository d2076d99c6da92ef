import { test } from 'tap';
import { callSiteOf, copyCallSite, markCallSite } from '../../src/domain/call-site.ts';

const make = () => markCallSite({ a: 1 }, make);

test('a value knows who called its maker', async (t) => {
  t.match(callSiteOf(make())?.split('\n')[1], /call-site\.test\.ts:\d+:22/);
});

test('copies, JSON and comparisons do not see the mark', async (t) => {
  t.strictSame(make(), { a: 1 });
  t.equal(callSiteOf({ ...make() }), undefined);
  t.same(Reflect.ownKeys({ ...make() }), ['a']);
});

test('the mark can be handed on', async (t) => {
  const made = make();
  t.equal(callSiteOf(copyCallSite({}, made)), callSiteOf(made));
  t.equal(callSiteOf(copyCallSite({}, {})), undefined);
});

test('what nobody has marked has no call site', async (t) => {
  for (const value of [{}, null, undefined, 5, 'text']) t.equal(callSiteOf(value), undefined);
});
