import t from 'tap';
import { cutShort, requireWhole } from '../../src/uploads/cut-short.ts';
import { sampleUpload } from '../support/sample-records.ts';

const owner = (stopped?: 'displaced' | 'draining') => ({
  stopped,
  onStop: () => {},
  isAwaited: () => false,
  release: () => {},
});
const upload = sampleUpload({ offset: 7 });

t.test('a whole body is no error', async (t) => {
  t.doesNotThrow(() => requireWhole({ ending: 'end', bytes: 1 }, owner(), upload));
  t.throws(() => requireWhole({ ending: 'cut', bytes: 1 }, owner(), upload), { code: 'UNAVAILABLE' });
});

t.test('who is displaced or falls silent has lost the upload; all others may come again', async (t) => {
  const taken = { code: 'INVALID_OFFSET', details: { 'expected-offset': 7 } };
  t.match(cutShort({ ending: 'stopped', bytes: 1 }, owner('displaced'), upload), taken);
  t.match(cutShort({ ending: 'end', bytes: 1 }, owner('displaced'), upload), taken);
  t.match(cutShort({ ending: 'silent', bytes: 1 }, owner(), upload), taken);
  t.match(cutShort({ ending: 'stopped', bytes: 1 }, owner('draining'), upload), {
    code: 'UNAVAILABLE',
    message: /shutting down.*offset 7/,
    retryAfter: 1,
  });
  for (const ending of ['cut', 'idle', 'slow'] as const) {
    t.match(cutShort({ ending, bytes: 1 }, owner(), upload), { code: 'UNAVAILABLE', message: /ended early.*offset 7/ });
  }
});
