import t from 'tap';
import { createBudget, type Holder } from '../../../../src/drivers/data/s3/budget.ts';

/** An upload that holds what it is told to hold. */
const holder = (idle = 0) => {
  const calls = { spilled: 0, woken: 0 };
  const it: Holder = {
    idle: () => idle,
    spill: () => {
      calls.spilled += 1;
    },
    wake: () => {
      calls.woken += 1;
    },
  };
  return { it, calls };
};

t.test('what is over the budget wakes those who wait once it is given back', (t) => {
  const budget = createBudget(100);
  const one = holder();
  const other = holder();
  const share = budget.enter(one.it);
  budget.enter(other.it);
  share.take(100);
  t.equal(budget.isOver(), false);
  share.take(1);
  t.equal(budget.isOver(), true);
  share.give(1);
  t.equal(budget.isOver(), false);
  t.strictSame([one.calls.woken, other.calls.woken], [1, 1]);
  share.give(100);
  t.equal(budget.used, 0);
  t.strictSame([one.calls.woken, other.calls.woken], [1, 1], 'and nobody else');
  t.end();
});

t.test('while something is on its way nobody spills', (t) => {
  const budget = createBudget(100);
  const slow = holder(60);
  const fast = holder(0);
  budget.enter(slow.it).take(60);
  budget.enter(fast.it).take(50);
  t.equal(slow.calls.spilled, 0);
  t.end();
});

t.test('when all wait for more to come, the largest spills', (t) => {
  const budget = createBudget(100);
  const small = holder(45);
  const large = holder(60);
  budget.enter(small.it).take(45);
  budget.enter(large.it).take(60);
  t.strictSame([small.calls.spilled, large.calls.spilled], [0, 1]);
  t.end();
});

t.test('who has left is not asked', (t) => {
  const budget = createBudget(100);
  const gone = holder(200);
  const share = budget.enter(gone.it);
  share.leave();
  budget.enter(holder(101).it).take(101);
  t.equal(gone.calls.spilled, 0);
  t.end();
});
