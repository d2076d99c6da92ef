import t from 'tap';
import type { FlowDefinition } from '../../src/domain/flow.ts';
import type { JobFile, JobRecord, TaskRecord } from '../../src/domain/job.ts';
import { collectOutputs, garbageAfter, inputFiles, nextSteps } from '../../src/engine/plan.ts';
import { headsOf, planUnits } from '../../src/engine/units.ts';

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

const units = planUnits(diamond, {});
const next = (tasks: Parameters<typeof job>[0]) => {
  const { ready, skipped } = nextSteps(diamond, units, job(tasks));
  return { ready: ready.flatMap(headsOf), skipped };
};

t.test('a node is ready when all edges have settled and one is active', (t) => {
  t.strictSame(next({ top: done('t') }), { ready: ['left', 'right'], skipped: [] });
  t.strictSame(next({ top: done('t'), left: done('l'), right: { status: 'running' } }), {
    ready: [],
    skipped: [],
  });
  const half = { top: done('t'), left: { status: 'skipped' as const }, right: done('r') };
  t.strictSame(next(half), { ready: ['bottom'], skipped: [] });
  t.end();
});

t.test('a node is skipped when none of its edges is active', (t) => {
  t.strictSame(next({ top: done() }), { ready: [], skipped: ['left', 'right', 'bottom'] });
  t.end();
});

t.test('files come in the order of the edges in the definition', (t) => {
  const all = job({ top: done('t'), left: done('l1', 'l2'), right: done('r') });
  t.strictSame(
    inputFiles(diamond, all, 'bottom').map(({ file, edge }) => `${file.key} ${edge}`),
    ['r 0', 'l1 1', 'l2 1'],
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
  const keys = (record: JobRecord, nodeId: string) =>
    garbageAfter(diamond, record, { chains: [[nodeId]] }).map(({ key }) => key);
  t.strictSame(keys(job({ top: done('t'), left: done('l') }), 'left'), [], 'right still needs it');
  t.strictSame(keys(job({ top: done('t'), left: done('l'), right: done('r') }), 'right'), ['t']);
  const passed = job({ top: done('t'), left: done('t'), right: done('r') });
  t.strictSame(keys(passed, 'right'), [], 'left handed the same file on');
  t.end();
});

t.test('files leave by the edge of their handle, and one that leaves by none is dropped', (t) => {
  const edges = [
    { source: 'top', target: 'left', sourceHandle: 'true' },
    { source: 'top', target: 'right', sourceHandle: 'false' },
  ];
  const flow = { ...diamond, edges };
  const routed = (handle: string) => ({ status: 'completed' as const, files: [{ ...file('f'), handle }] });
  const stepsFor = (handle: string) => nextSteps(flow, planUnits(flow, {}), job({ top: routed(handle) }));
  t.strictSame(stepsFor('true').ready.flatMap(headsOf), ['left']);
  t.strictSame(stepsFor('true').skipped, ['right']);
  t.strictSame(stepsFor('elsewhere').skipped, ['left', 'right']);
  t.strictSame(inputFiles(flow, job({ top: routed('false') }), 'left'), []);
  t.end();
});

t.test('a node whose main input stays empty is skipped, whatever comes by its others', (t) => {
  const [topLeft, topRight, rightBottom, leftBottom] = diamond.edges;
  const overlay = { source: 'left', target: 'bottom', targetHandle: 'overlay' };
  const flow = {
    ...diamond,
    edges: [topLeft, topRight, rightBottom, leftBottom && overlay].flatMap((one) => one ?? []),
  };
  const tasks = { top: done('t'), left: done('l'), right: { status: 'skipped' as const } };
  t.strictSame(nextSteps(flow, planUnits(flow, {}), job(tasks)).skipped, ['bottom']);
  const both = job({ ...tasks, right: done('r') });
  t.strictSame(nextSteps(flow, planUnits(flow, {}), both).ready.flatMap(headsOf), ['bottom']);
  t.match(inputFiles(flow, both, 'bottom'), [{ edge: 0 }, { edge: 1, handle: 'overlay' }]);
  t.end();
});

t.test('what has ended inside a chain delivers nothing yet', (t) => {
  t.strictSame(next({ top: { status: 'completed', unsaved: true } }), { ready: [], skipped: [] });
  t.end();
});
