import t from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import { localOwners } from '../../src/drivers/owners/local/index.ts';
import type { Owner } from '../../src/ports/owners.ts';
import { asOwner, displace } from '../../src/uploads/own.ts';
import { gate, quiet } from '../support/wait.ts';

const check = async () => 'checked';

t.test('the work is done as the owner, who lets go at its end', async (t) => {
  const owners = localOwners();
  const done = await asOwner(owners, 'a', 'wait', {
    check,
    work: async (_owner, checked) => {
      t.equal(await owners.take('a'), undefined);
      return checked;
    },
  });
  t.equal(done, 'checked');
  await t.rejects(asOwner(owners, 'a', 'wait', { check, work: () => Promise.reject(new Error('broken')) }));
  t.ok(await owners.take('a'), 'also when it fails');
});

t.test('the check is made before the wait and after it', async (t) => {
  const owners = localOwners();
  const holder = (await owners.take('a')) as Owner;
  const checks = ['fits', 'fits no longer'];
  const working = asOwner(owners, 'a', 'wait', {
    check: async (waited) => {
      t.equal(waited, checks.length === 1);
      if (checks.shift() !== 'fits') throw new ServiceError('INVALID_OFFSET');
    },
    work: async () => t.fail('never'),
  });
  await quiet();
  t.strictSame(checks, ['fits no longer']);
  holder.release();
  await t.rejects(working, { code: 'INVALID_OFFSET' });
  t.ok(await owners.take('a'), 'a failed check leaves no owner');
});

t.test('one who does not let go in five seconds locks the upload', async (t) => {
  const owners = localOwners();
  let now = 0;
  t.intercept(performance, 'now', { value: () => now });
  await owners.take('a');
  const slow = asOwner(owners, 'a', 'now', {
    check: async () => {
      now += 5001;
    },
    work: async () => {},
  });
  await t.rejects(slow, { code: 'UPLOAD_LOCKED', retryAfter: 1, status: 423 });
});

t.test('displacing stops the owner and waits for it', async () => {
  const owners = localOwners();
  await displace(owners, 'nobody');
  const stopped = gate();
  const holder = (await owners.take('a')) as Owner;
  holder.onStop(stopped.open);
  const displaced = displace(owners, 'a');
  await stopped.passed;
  holder.release();
  await displaced;
});
