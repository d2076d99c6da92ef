import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { JobFile, JobRecord, TaskRecord } from '../../src/domain/job.ts';
import { collectOutputs, garbageAfter, inputFiles, isIntermediate, nextSteps } from '../../src/engine/plan.ts';

const file = (key: string): JobFile => ({
  key,
  storageId: 'default',
  size: 1,
  mimeType: 'text/plain',
  fileName: key,
  owned: true,
});

const diamond: FlowDefinition = {
  flowId: 'diamond',
  name: 'Diamond',
  nodes: { top: { type: 'x' }, left: { type: 'x' }, right: { type: 'x' }, bottom: { type: 'x' } },
  edges: [
    { source: 'top', target: 'left' },
    { source: 'top', target: 'right' },
    { source: 'right', target: 'bottom' },
    { source: 'left', target: 'bottom' },
  ],
};

/** A job whose tasks are as given; those left out are pending. */
const job = (tasks: Record<string, Partial<TaskRecord>>): JobRecord => ({
  id: 'j',
  flowId: 'diamond',
  definitionHash: '',
  storageId: 'default',
  status: 'running',
  tasks: Object.keys(diamond.nodes).map((nodeId) => ({ nodeId, status: 'pending', attempt: 0, ...tasks[nodeId] })),
  createdAt: '',
  updatedAt: '',
  runningMs: 0,
  epoch: 1,
  wakes: 1,
  seq: 0,
});
const done = (...keys: string[]) => ({ status: 'completed' as const, files: keys.map(file) });

t.test('a node is ready when all edges have settled and one is active', (t) => {
  t.strictSame(nextSteps(diamond, job({ top: done('t') })), { ready: ['left', 'right'], skipped: [] });
  t.strictSame(nextSteps(diamond, job({ top: done('t'), left: done('l'), right: { status: 'running' } })), {
    ready: [],
    skipped: [],
  });
  const half = job({ top: done('t'), left: { status: 'skipped' }, right: done('r') });
  t.strictSame(nextSteps(diamond, half), { ready: ['bottom'], skipped: [] });
  t.end();
});

t.test('a node is skipped when none of its edges is active', (t) => {
  t.strictSame(nextSteps(diamond, job({ top: done() })), { ready: [], skipped: ['left', 'right'] });
  t.end();
});

t.test('files come in the order of the edges in the definition', (t) => {
  const all = job({ top: done('t'), left: done('l1', 'l2'), right: done('r') });
  t.strictSame(
    inputFiles(diamond, all, 'bottom').map(({ key }) => key),
    ['r', 'l1', 'l2'],
  );
  t.end();
});

t.test('further files of a node get numbered keys', (t) => {
  const outputs = collectOutputs(diamond, job({ bottom: done('a', 'b', 'c') }));
  t.strictSame(Object.keys(outputs), ['bottom', 'bottom.1', 'bottom.2']);
  t.equal(outputs['bottom.2']?.nodeId, 'bottom');
  t.end();
});

t.test('a file is garbage once its last consumer has settled', (t) => {
  const keys = (record: JobRecord, nodeId: string) => garbageAfter(diamond, record, nodeId).map(({ key }) => key);
  t.strictSame(keys(job({ top: done('t'), left: done('l') }), 'left'), [], 'right still needs it');
  t.strictSame(keys(job({ top: done('t'), left: done('l'), right: done('r') }), 'right'), ['t']);
  const passed = job({ top: done('t'), left: done('t'), right: done('r') });
  t.strictSame(keys(passed, 'right'), [], 'left handed the same file on');
  t.end();
});

t.test('only what process nodes alone read is intermediate', (t) => {
  t.equal(
    isIntermediate(diamond, 'left', () => 'process'),
    true,
  );
  t.equal(
    isIntermediate(diamond, 'left', () => 'output'),
    false,
  );
  t.equal(
    isIntermediate(diamond, 'bottom', () => 'process'),
    false,
    'it is final',
  );
  t.end();
});
