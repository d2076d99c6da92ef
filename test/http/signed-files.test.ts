import t from 'tap';
import { createSignedFiles } from '../../src/http/signed-files.ts';

const secret = 'one that nobody guesses';

t.test('a signature is good for one file, until it ends', (t) => {
  const time = { now: 1_000_500 };
  const clock = { now: () => time.now };
  const files = createSignedFiles({ secret, ttl: 60_000, clock });
  const query = files.sign('job.small');
  const { expires = '', signature = '' } = Object.fromEntries(new URLSearchParams(query));
  t.equal(query, `?expires=1061&signature=${signature}`, 'in whole seconds, not sooner than it should');
  t.match(signature, /^[\w-]{43}$/);
  t.equal(files.holds('job.small', { expires, signature }), true);
  t.equal(files.holds('job.small.1', { expires, signature }), false);
  t.equal(files.holds('job.small', { expires: '1062', signature }), false);
  t.equal(files.holds('job.small', { expires: `0${expires}`, signature }), false);
  for (const other of [
    '',
    signature.slice(1),
    `${signature}a`,
    signature.replace(/./, (c) => (c === 'A' ? 'B' : 'A')),
  ]) {
    t.equal(files.holds('job.small', { expires, signature: other }), false, other);
  }
  t.equal(files.holds('job.small', { expires }), false);
  t.equal(files.holds('job.small', { signature }), false);
  time.now = 1_060_999;
  t.equal(files.holds('job.small', { expires, signature }), true);
  time.now = 1_061_000;
  t.equal(files.holds('job.small', { expires, signature }), false);
  t.end();
});

t.test('another secret signs otherwise', (t) => {
  const clock = { now: () => 0 };
  const { expires, signature } = Object.fromEntries(
    new URLSearchParams(createSignedFiles({ secret: 'another', ttl: 1000, clock }).sign('x')),
  );
  t.equal(createSignedFiles({ secret, ttl: 1000, clock }).holds('x', { expires, signature }), false);
  t.end();
});
