import { test } from 'tap';
import type { FlowDefinition } from '../../../src/domain/flow.ts';
import { FlowLoadError } from '../../../src/engine/load/flow-problem.ts';
import { createReloadFlows } from '../../../src/engine/load/reload-flows.ts';

type Flows = Readonly<Record<string, FlowDefinition>>;

const flowsOf = (...ids: string[]): Flows =>
  Object.fromEntries(ids.map((flowId) => [flowId, { flowId, name: flowId, nodes: {}, edges: [] }]));

/** Loads that end when the test says so, and what came of them. */
const rig = (replace: (flows: Flows) => void | Promise<void> = () => {}) => {
  const loads: PromiseWithResolvers<Flows>[] = [];
  const taken: string[] = [];
  const log: unknown[] = [];
  const reload = createReloadFlows({
    load: () => {
      const load = Promise.withResolvers<Flows>();
      loads.push(load);
      return load.promise;
    },
    replace: async (flows) => {
      await replace(flows);
      taken.push(Object.keys(flows).join(' '));
    },
    log: { info: (message) => log.push(message), error: (context, message) => log.push({ message, ...context }) },
  });
  return { reload, loads, taken, log };
};

/** Lets promises go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what was loaded is put into use, and told', async (t) => {
  const { reload, loads, taken, log } = rig();
  const done = reload();
  loads[0]?.resolve(flowsOf('a', 'b'));
  await done;
  t.same(taken, ['a b']);
  t.same(log, ['The flows were loaded again: a, b']);
});

test('a directory with problems changes nothing, and each problem is told', async (t) => {
  const { reload, loads, taken, log } = rig();
  const done = reload();
  loads[0]?.reject(new FlowLoadError([{ file: 'a.yaml', line: 3, column: 5, node: 'x', message: 'is wrong' }]));
  await done;
  t.same(taken, []);
  t.match(log, [{ problems: ['a.yaml:3:5 node "x": is wrong'], message: /stay as they were/ }]);
});

test('flows that are refused are told, and the next reload works as ever', async (t) => {
  let refuse = true;
  const { reload, loads, taken, log } = rig(() => {
    if (refuse) throw new TypeError('refused');
  });
  const first = reload();
  loads[0]?.resolve(flowsOf('a'));
  await first;
  t.match(log, [{ err: { message: 'refused' } }]);
  refuse = false;
  const second = reload();
  loads[1]?.resolve(flowsOf('b'));
  await second;
  t.same(taken, ['b']);
});

test('of overlapping reloads one runs at a time, and only the newest counts', async (t) => {
  const { reload, loads, taken, log } = rig();
  const done = [reload(), reload(), reload()];
  t.equal(loads.length, 1);
  loads[0]?.resolve(flowsOf('old'));
  await turn();
  t.equal(loads.length, 2, 'the two that came meanwhile are one more');
  t.same(taken, [], 'the state from before the last change is not put into use');
  done.push(reload());
  loads[1]?.reject(new FlowLoadError([{ file: 'half-written.yaml', message: 'is wrong' }]));
  await turn();
  t.same(log, [], 'nor are its problems told');
  loads[2]?.resolve(flowsOf('new'));
  await Promise.all(done);
  t.same(taken, ['new']);
  t.equal(loads.length, 3);
});

test('a reload while the last one is being put into use is done after it', async (t) => {
  const { promise: into, resolve } = Promise.withResolvers<void>();
  const { reload, loads, taken } = rig(() => into);
  const done = reload();
  loads[0]?.resolve(flowsOf('a'));
  await turn();
  const again = reload();
  t.equal(loads.length, 1);
  resolve();
  await turn();
  loads[1]?.resolve(flowsOf('b'));
  await Promise.all([done, again]);
  t.same(taken, ['a', 'b']);
});
