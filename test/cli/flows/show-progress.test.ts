import { test } from 'tap';
import { showProgress } from '../../../src/cli/flows/show-progress.ts';
import type { JobRecord, TaskStatus } from '../../../src/domain/job.ts';
import type { Step } from '../../../src/events/follow.ts';

const flow = { flowId: 'x', name: 'X', nodes: {}, edges: [] };
const job = (status: string, tasks: Readonly<Record<string, TaskStatus>>) =>
  ({
    status,
    tasks: Object.entries(tasks).map(([nodeId, state]) => ({ nodeId, status: state, attempt: 1 })),
  }) as unknown as JobRecord;
const step = (type: string, fields: object) => ({ type, seq: 1, timestamp: '', ...fields }) as Step;

const streamOf = (given: { isTTY?: boolean; columns?: number }) => {
  const written: string[] = [];
  return { written, stream: { ...given, write: (text: string) => written.push(text) } };
};

test('on a terminal one line is drawn over and over, and taken away at the end', async (t) => {
  const { written, stream } = streamOf({ isTTY: true, columns: 200 });
  const progress = showProgress(stream, flow);
  progress.say('reading a.jpg');
  progress.update(job('running', { a: 'completed', b: 'running', c: 'retrying', d: 'pending' }), []);
  progress.update(job('completed', { a: 'completed', b: 'completed', c: 'skipped', d: 'completed' }), []);
  progress.end();
  t.same(written, [
    `\r\u001B[K[${'-'.repeat(24)}] 0 % x: reading a.jpg`,
    `\r\u001B[K[${'#'.repeat(6)}${'-'.repeat(18)}] 25 % x: b, c`,
    `\r\u001B[K[${'#'.repeat(24)}] 100 % x: completed`,
    '\r\u001B[K',
  ]);
});

test('the line is shorter than the terminal, also when that does not say its width', async (t) => {
  for (const [columns, length] of [
    [30, 29],
    [0, 79],
  ] as const) {
    const { written, stream } = streamOf({ isTTY: true, columns });
    showProgress(stream, flow).say('y'.repeat(300));
    t.equal(written[0]?.replace('\r\u001B[K', '').length, length);
  }
});

test('elsewhere each step is a line', async (t) => {
  const { written, stream } = streamOf({});
  const progress = showProgress(stream, flow);
  const error = { code: 'TIMEOUT', message: 'too long' };
  progress.say('reading a.jpg');
  progress.update(job('running', {}), [
    step('flow_started', {}),
    step('node_started', { nodeId: 'a' }),
    step('node_retrying', { nodeId: 'a', attempt: 1, error }),
    step('node_completed', { nodeId: 'a' }),
    step('node_failed', { nodeId: 'b', error }),
    step('node_skipped', { nodeId: 'c' }),
  ]);
  progress.end();
  t.equal(
    written.join(''),
    'reading a.jpg\na: started\na: will be tried again: TIMEOUT: too long\na: completed\nb: failed: TIMEOUT: too long\nc: skipped\n',
  );
});
