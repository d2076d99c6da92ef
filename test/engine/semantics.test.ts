/**
 * What a graph means: a table of flows, what goes in, what each node does, and what must come of it.
 *
 * A node's file says how it came about: `b(a(x)+y)` is what `b` has made of a file of `a` and of the upload `y`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ServiceError } from '../../src/domain/errors.ts';
import type { FlowDefinition, NodeSettings } from '../../src/domain/flow.ts';
import type { JobRecord } from '../../src/domain/job.ts';
import type { KvStore } from '../../src/ports/kv-store.ts';
import { deliverAll, engineRig, type Rig, type Script } from '../support/engine-rig.ts';
import { interpose } from '../support/interpose.ts';
import { edgesOf, flowOf, input, node, startWith } from '../support/step-flows.ts';
import { findOrderProblem } from '../support/story-of-job.ts';

/** One file of all that came in; one for each; none; a failure; or files of these names. */
type Does = 'one' | 'each' | 'none' | 'fails' | { readonly makes: string };

interface Row {
  /** `a b:route` are a step and a node of the kind `route`; `in` is there unless it is named. */
  readonly nodes: string;
  /** See `edgesOf`. */
  readonly edges: string;
  readonly settings?: Readonly<Record<string, NodeSettings>>;
  /** The files of the inputs, by name; default: `x` for `in`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Default: `one`. */
  readonly does?: Readonly<Record<string, Does>>;
  readonly skipped?: string;
  /** The node that fails the job. */
  readonly failed?: string;
  readonly cancelled?: string;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

const diamond = { nodes: 'a b c d', edges: 'in a, a b, a c, b d, c d' };
const routed = { nodes: 'r:route t f', edges: 'in r, r true> t, r false> f', does: { t: 'each', f: 'each' } } as const;
const mixed = { in: 'yes1 no1 yes2' };
const failure = 'INVALID_INPUT: broken';

const table: Readonly<Record<string, Row>> = {
  'a diamond comes together': { ...diamond, outputs: { d: 'd(b(a(x))+c(a(x)))' } },
  'files come in the order of the edges': {
    ...{ nodes: 'a b c d', edges: 'in a, c d, b d, a b, a c' },
    outputs: { d: 'd(c(a(x))+b(a(x)))' },
  },
  'and then in the order in which their node made them': {
    ...diamond,
    does: { b: { makes: '1 2' }, c: { makes: '3 4' } },
    outputs: { d: 'd(b:1+b:2+c:3+c:4)' },
  },
  'a node runs when one of its sources delivers': { ...diamond, does: { b: 'none' }, outputs: { d: 'd(c(a(x)))' } },
  'and is skipped when none does': {
    ...diamond,
    ...{ does: { b: 'none', c: 'none' }, skipped: 'd', outputs: {}, warnings: ['NO_OUTPUTS'] },
  },
  'skipping goes on to the end': {
    ...{ nodes: 'a b c d e', edges: 'in a, in e, a b, b c, c d' },
    ...{ does: { a: 'none' }, skipped: 'b c d', outputs: { e: 'e(x)' } },
  },
  'files go their ways one by one': {
    ...routed,
    files: mixed,
    outputs: { t: 't(yes1)', 't.1': 't(yes2)', f: 'f(no1)' },
  },
  'a way that no file takes is skipped': { ...routed, files: { in: 'yes' }, skipped: 'f', outputs: { t: 't(yes)' } },
  'files that no edge takes are dropped': {
    ...{ nodes: 'r:route t', edges: 'in r, r true> t', files: mixed },
    outputs: { t: 't(yes1+yes2)' },
  },
  'when that is all of them, nothing is left': {
    ...{ nodes: 'r:route t', edges: 'in r, r true> t', files: { in: 'no' } },
    ...{ skipped: 't', outputs: {}, warnings: ['NO_OUTPUTS'] },
  },
  'both ways may lead to one node': {
    ...{ nodes: 'r:route d', edges: 'in r, r false> d, r true> d', files: mixed },
    outputs: { d: 'd(no1+yes1+yes2)' },
  },
  'a condition leads into a merge, one of its ways through a node': {
    ...{ nodes: 'r:route a j:join', edges: 'in r, r true> a, a j, r false> j', files: mixed },
    outputs: { j: 'a(yes1+yes2)', 'j.1': 'no1' },
  },
  'a merge after a condition takes what comes': {
    ...{ nodes: 'r:route a j:join', edges: 'in r, r true> a, a j, r false> j', files: { in: 'no1 no2' } },
    ...{ skipped: 'a', outputs: { j: 'no1', 'j.1': 'no2' } },
  },
  'conditions may follow conditions': {
    ...{ nodes: 'r:route s:route t f', edges: 'in r, r true> s, s true> t, s false> f', files: mixed },
    ...{ skipped: 'f', outputs: { t: 't(yes1+yes2)' } },
  },
  'fan out and fan in': {
    ...{ nodes: 'a b c d e j:join', edges: 'in a, in b, in c, in d, in e, e j, d j, c j, b j, a j' },
    outputs: { j: 'e(x)', 'j.1': 'd(x)', 'j.2': 'c(x)', 'j.3': 'b(x)', 'j.4': 'a(x)' },
  },
  'a branch that fails ends the job': {
    ...{ nodes: 'a b c', edges: 'in a, a b, b c', does: { b: 'fails' }, failed: 'b', cancelled: 'c' },
  },
  'a branch that may fail is skipped': {
    ...{ ...diamond, does: { b: 'fails' }, settings: { b: { onError: 'skip' } } },
    ...{ skipped: 'b', outputs: { d: 'd(c(a(x)))' }, warnings: [`b: ${failure}`] },
  },
  'and with it what it alone feeds': {
    ...{ nodes: 'a b c', edges: 'in a, a b, in c', does: { a: 'fails' }, settings: { a: { onError: 'skip' } } },
    ...{ skipped: 'a b', outputs: { c: 'c(x)' }, warnings: [`a: ${failure}`] },
  },
  'all branches may fail': {
    ...{ nodes: 'a b', edges: 'in a, a b', does: { a: 'fails' }, settings: { a: { onError: 'skip' } } },
    ...{ skipped: 'a b', outputs: {}, warnings: [`a: ${failure}`, 'NO_OUTPUTS'] },
  },
  'what is kept is an output beside the last': {
    ...{ nodes: 'a b', edges: 'in a, a b', settings: { a: { keepOutput: true } } },
    outputs: { a: 'a(x)', b: 'b(a(x))' },
  },
  'what is kept of a skipped branch stays': {
    ...{ nodes: 'a b', edges: 'in a, a b', settings: { a: { keepOutput: true } } },
    ...{ does: { b: 'none' }, outputs: { a: 'a(x)' } },
  },
  'each further file has its number': {
    ...{ nodes: 'a', edges: 'in a', does: { a: { makes: '1 2 3' } } },
    outputs: { a: 'a:1', 'a.1': 'a:2', 'a.2': 'a:3' },
  },
  'a named input comes by its name': {
    ...{ nodes: 'o m:mark', edges: 'in o, o >overlay m, in m' },
    outputs: { m: 'm(overlay=o(x)+x)' },
  },
  'a node without files by its main input is skipped': {
    ...{ nodes: 'o a m:mark', edges: 'in o, o >overlay m, in a, a m', does: { a: 'none' } },
    ...{ skipped: 'm', outputs: {}, warnings: ['NO_OUTPUTS'] },
  },
  'one without files by another runs': {
    ...{ nodes: 'o m:mark', edges: 'in o, o >overlay m, in m', does: { o: 'none' } },
    outputs: { m: 'm(x)' },
  },
  'several inputs come together': {
    ...{ nodes: 'in:file-input two:file-input a', edges: 'two a, in a', files: { in: 'x', two: 'y z' } },
    outputs: { a: 'a(y+z+x)' },
  },
  'an upload that is only handed on is an output, and stays': {
    ...{ nodes: 'j:join out:output', edges: 'in j, j out' },
    outputs: { out: 'x' },
  },
  'image nodes in a row and side by side': {
    ...{ nodes: 'a:small b:pixel c:small d:small e', edges: 'in a, a b, in c, c d, b e, d e' },
    outputs: { e: 'e(b(a(x))+d(c(x)))' },
  },
  'an image node that may fail is alone': {
    ...{ nodes: 'a:pixel b:pixel c:pixel', edges: 'in a, a b, a c', does: { b: 'fails' } },
    ...{ settings: { b: { onError: 'skip' } }, skipped: 'b', outputs: { c: 'c(a(x))' }, warnings: [`b: ${failure}`] },
  },
};

const words = (text = ''): readonly string[] => text.split(' ').filter((word) => word !== '');

const flowOfRow = ({ nodes, edges, settings = {} }: Row): FlowDefinition => {
  const entries = words(nodes).map((word) => {
    const [id = '', type = 'step'] = word.split(':');
    return [id, type === 'file-input' ? input : node(type, settings[id])] as const;
  });
  return flowOf(Object.fromEntries(entries), edgesOf(...edges.split(', ')));
};

const scriptOf =
  (does: Readonly<Record<string, Does>>): Script =>
  async (task) => {
    const how = does[task.nodeId] ?? 'one';
    if (how === 'fails') throw new ServiceError('INVALID_INPUT', 'broken');
    if (how === 'none') return [];
    const made = (texts: readonly string[]) => ({ text: `${task.nodeId}(${texts.join('+')})`, fileName: 'x' });
    if (typeof how === 'object') {
      return deliverAll(
        task,
        words(how.makes).map((name) => ({ text: `${task.nodeId}:${name}`, fileName: name })),
      );
    }
    const texts = await Promise.all(
      task.files.map(
        async ({ path, handle }) => (handle === undefined ? '' : `${handle}=`) + (await readFile(path, 'utf8')),
      ),
    );
    return deliverAll(task, how === 'each' ? texts.map((text) => made([text])) : [made(texts)]);
  };

const textsOf = async (rig: Rig, { outputs }: JobRecord): Promise<Record<string, string> | undefined> => {
  if (outputs === undefined) return undefined;
  const entries = Object.entries(outputs).map(async ([key, { key: place }]) => [key, await rig.read(place)] as const);
  return Object.fromEntries(await Promise.all(entries));
};

const statusesOf = (row: Row, job: JobRecord) =>
  Object.fromEntries(
    job.tasks.map(({ nodeId }) => {
      if (nodeId === row.failed) return [nodeId, 'failed'];
      if (words(row.skipped).includes(nodeId)) return [nodeId, 'skipped'];
      return [nodeId, words(row.cancelled).includes(nodeId) ? 'cancelled' : 'completed'];
    }),
  );

/** Nothing is left but the outputs and the user's own uploads. */
const requireTidy = async (t: Test, rig: Rig, job: JobRecord, uploads: number) => {
  const outputs = Object.values(job.outputs ?? {}).map(({ key }) => key);
  if (job.status === 'completed') {
    t.strictSame([...(await rig.keys('jobs/'))].sort(), outputs.filter((key) => key.startsWith('jobs/')).sort());
  }
  t.equal((await rig.keys('uploads/')).length, uploads, "the user's own uploads stay");
  t.strictSame(await readdir(join(rig.directory, 'scratch')), []);
};

for (const [title, row] of Object.entries(table)) {
  t.test(title, async (t) => {
    const flow = flowOfRow(row);
    const rig = await engineRig(t, { flows: [flow], script: scriptOf(row.does ?? {}) });
    const files = Object.entries(row.files ?? { in: 'x' }).map(([id, names]) => [id, words(names)] as const);
    const job = await rig.until(await startWith(rig, Object.fromEntries(files)), 'completed', 'failed', 'paused');
    t.equal(job.status, row.failed === undefined ? 'completed' : 'failed');
    t.strictSame(Object.fromEntries(job.tasks.map(({ nodeId, status }) => [nodeId, status])), statusesOf(row, job));
    t.strictSame(await textsOf(rig, job), row.outputs);
    t.strictSame(job.warnings, row.warnings);
    t.equal(job.error?.nodeId, row.failed);
    t.equal(findOrderProblem(flow, await rig.log(job.id)), undefined);
    await requireTidy(t, rig, job, files.flatMap(([, names]) => names).length);
    t.strictSame(rig.errors, []);
  });
}

t.test('the files of a node are removed when the last of its consumers has been saved, not before', async (t) => {
  const seen: Record<string, number> = {};
  const script: Script = async (task, signal) => {
    seen[task.nodeId] = (await rig.keys(`jobs/`)).filter((key) => key.includes('/a/')).length;
    return scriptOf({})(task, signal);
  };
  const flow = flowOf({ a: node(), b: node(), c: node(), d: node() }, edgesOf('in a', 'a b', 'a c', 'b c', 'c d'));
  const rig = await engineRig(t, { flows: [flow], script });
  await rig.until(await startWith(rig), 'completed');
  t.strictSame(seen, { a: 0, b: 1, c: 1, d: 0 });
});

t.test('a whole chain of nodes that no file reaches is one write', async (t) => {
  let writes = 0;
  const wrapRecords = interpose<KvStore>((store) => ({
    commit: (change) => {
      if (change.events?.some((event) => event.type === 'node_skipped')) writes += 1;
      return store.commit(change);
    },
  }));
  const names = ['none', 'a', 'b', 'c', 'd'];
  const edges = names.map((name, index) => ({ source: names[index - 1] ?? 'in', target: name }));
  // The last ones stand first: the order of the definition is not that of the edges.
  const flow = flowOf(Object.fromEntries(names.toReversed().map((name) => [name, node()])), edges);
  const rig = await engineRig(t, { flows: [flow], script: async () => [], wrapRecords });
  const job = await rig.until(await startWith(rig), 'completed');
  t.strictSame(
    job.tasks.slice(1, 5).map(({ status }) => status),
    Array(4).fill('skipped'),
  );
  t.equal(writes, 1);
  t.strictSame(
    (await rig.events(job.id)).filter((event) => event.startsWith('node_skipped')),
    ['a', 'b', 'c', 'd'].map((name) => `node_skipped ${name}`),
  );
});
