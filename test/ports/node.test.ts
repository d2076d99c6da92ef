import { test } from 'tap';
import { Type } from 'typebox';
import { callSiteOf } from '../../src/domain/call-site.ts';
import { defineNode } from '../../src/ports/node.ts';

const options = Type.Object({ width: Type.Optional(Type.Integer()) }, { additionalProperties: false });
const description = {
  kind: 'scale',
  name: 'Scale',
  role: 'process',
  accepts: ['image/*'],
  options,
  produces: (_options: unknown, incoming: readonly string[]) => incoming,
} as const;
const scaleNode = defineNode(description);

test('a kind carries its description, its name too although functions have one', async (t) => {
  for (const [key, value] of Object.entries(description)) t.equal(scaleNode[key as keyof typeof description], value);
  t.equal(scaleNode.run, undefined);
});

test('a kind makes nodes: key, options, settings', async (t) => {
  t.strictSame(scaleNode('a'), { id: 'a', type: 'scale' });
  t.strictSame(scaleNode('a', { width: 5 }, { keepOutput: true, retries: 0 }), {
    id: 'a',
    type: 'scale',
    options: { width: 5 },
    keepOutput: true,
    retries: 0,
  });
});

test('a node knows where it was made', async (t) => t.match(callSiteOf(scaleNode('a')), /node\.test\.ts:\d+:72/));
