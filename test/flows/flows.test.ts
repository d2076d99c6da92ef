import { readFile } from 'node:fs/promises';
import { test } from 'tap';
import { isFinal } from '../../src/domain/flow.ts';
import { checkFlow } from '../../src/engine/load/check-flow.ts';
import { readYaml } from '../../src/engine/load/flow-document.ts';
import { loadFlows } from '../../src/engine/load/load-flows.ts';
import { kinds } from '../../src/nodes/index.ts';

const finals: Readonly<Record<string, readonly string[]>> = {
  'two-sizes': ['small-web', 'large-web'],
  'avif-preview': ['preview'],
  'web-image': ['image'],
  thumbnail: ['thumbnail'],
};

test('the shipped flows load, and have the outputs that their descriptions promise', async (t) => {
  const directory = new URL('../../flows', import.meta.url).pathname;
  const flows = await loadFlows({ directory, kinds, onError: 'fail' });
  t.same(new Set(Object.keys(flows)), new Set(Object.keys(finals)));
  for (const [flowId, flow] of Object.entries(flows)) {
    t.ok(flow.description);
    t.same(
      Object.keys(flow.nodes).filter((nodeId) => isFinal(flow, nodeId)),
      finals[flowId],
    );
  }
});

const promised: Readonly<Record<string, readonly string[]>> = { 'product-photo': ['small', 'web'], resized: ['web'] };

test('the examples in the README are flows, with the outputs that it promises', async (t) => {
  const readme = await readFile(new URL('../../flows/README.md', import.meta.url), 'utf8');
  const examples = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => readYaml(text, 'README.md'));
  const flows = examples.map(({ value, problems }) => {
    t.same(problems, []);
    return checkFlow(value, kinds);
  });
  for (const [flowId, outputs] of Object.entries(promised)) {
    const flow = flows.find((one) => one.flowId === flowId);
    t.ok(flow !== undefined && outputs.every((nodeId) => isFinal(flow, nodeId)), flowId);
  }
});
