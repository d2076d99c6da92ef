import t from 'tap';
import { createPace, tickMs } from '../../src/uploads/pace.ts';

const seconds = (count: number) => count * 4;

t.test('a quarter of a second, or less for short limits', async (t) => {
  t.equal(tickMs({ idleMs: 60_000, minRate: 0 }), 250);
  t.equal(tickMs({ idleMs: 100, minRate: 0 }), 25);
  t.equal(tickMs({ idleMs: 1, minRate: 0 }), 1);
});

t.test('no byte for the whole idle time is idle; any byte begins it anew', async (t) => {
  const pace = createPace({ idleMs: 10_000, minRate: 0 });
  for (let tick = 1; tick < seconds(10); tick += 1) t.equal(pace(0, false), undefined);
  t.equal(pace(1, false), undefined);
  for (let tick = 1; tick < seconds(10); tick += 1) t.equal(pace(1, false), undefined);
  t.equal(pace(1, false), 'idle');
});

t.test('two seconds without a byte are silence once somebody waits', async (t) => {
  const pace = createPace({ idleMs: 10_000, minRate: 0 });
  for (let tick = 0; tick < seconds(5); tick += 1) t.equal(pace(0, false), undefined);
  t.equal(pace(0, true), 'silent');
  t.equal(pace(7, true), undefined);
  for (let tick = 1; tick < seconds(2); tick += 1) t.equal(pace(7, true), undefined);
  t.equal(pace(7, true), 'silent');
});

t.test('time in which the sink is waited for does not count', async (t) => {
  const pace = createPace({ idleMs: 10_000, minRate: 1000 });
  for (let tick = 0; tick < seconds(100); tick += 1) t.equal(pace(undefined, true), undefined);
  t.equal(pace(0, false), undefined);
});

t.test('each stretch of the idle time must bring its bytes', async (t) => {
  const pace = createPace({ idleMs: 10_000, minRate: 100 });
  let bytes = 0;
  const bring = (each: number) => {
    bytes += each;
    return pace(bytes, false);
  };
  for (let tick = 0; tick < seconds(20); tick += 1) t.equal(bring(25), undefined, 'just enough');
  for (let tick = 1; tick < seconds(10); tick += 1) t.equal(bring(24), undefined);
  t.equal(bring(24), 'slow');
});
