import { test } from 'tap';
import { callSiteOf } from '../../src/domain/call-site.ts';
import { defineFlow } from '../../src/domain/define-flow.ts';
import { scaleNode, sourceNode } from '../engine/load/test-kinds.ts';

// What the compiler refuses is in define-flow.types.ts.

test('nodes become a map by their ids; the rest stays as it is', async (t) => {
  const flow = defineFlow({
    flowId: 'x',
    name: 'X',
    retries: 1,
    nodes: [sourceNode('photo'), scaleNode('small', { width: 5 }, { keepOutput: true })],
    edges: [{ source: 'photo', target: 'small' }],
  });
  t.strictSame(flow, {
    flowId: 'x',
    name: 'X',
    retries: 1,
    nodes: { photo: { type: 'source' }, small: { type: 'scale', options: { width: 5 }, keepOutput: true } },
    edges: [{ source: 'photo', target: 'small' }],
  });
  t.same(JSON.parse(JSON.stringify(flow)), flow);
});

test('two nodes with one id are an error, at the line of the second', async (t) => {
  try {
    defineFlow({ flowId: 'x', name: 'X', nodes: [sourceNode('a'), sourceNode('a')], edges: [] });
    t.fail('nothing was thrown');
  } catch (error) {
    t.match(error, { message: 'node "a" is defined twice' });
    t.match(callSiteOf(error), /define-flow\.test\.ts:\d+:67/);
  }
});

test('the flow and its nodes know where they were made', async (t) => {
  const flow = defineFlow({ flowId: 'x', name: 'X', nodes: [sourceNode('a')], edges: [] });
  t.match(callSiteOf(flow), /define-flow\.test\.ts:\d+:16/);
  t.match(callSiteOf(flow.nodes['a']), /define-flow\.test\.ts:\d+:61/);
});
