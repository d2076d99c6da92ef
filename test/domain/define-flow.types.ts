/**
 * What the compiler refuses in a flow, and what it knows of the outputs. Nothing here runs: `tsc --noEmit` reports
 * every `@ts-expect-error` that expects in vain.
 */
import type { Static } from 'typebox';
import { defineFlow, type FlowOutputs } from '../../src/domain/define-flow.ts';
import type { FlowDefinition, FlowEdge, FlowInputLimits, FlowNode } from '../../src/domain/flow.ts';
import type { flowShape } from '../../src/engine/load/flow-schema.ts';
import type { NodeKinds } from '../../src/ports/node.ts';
import {
  chooseNode,
  encodeNode,
  readTextNode,
  resultNode,
  scaleNode,
  sourceNode,
  stampNode,
  testKinds,
} from '../engine/load/test-kinds.ts';

/** `true` when both types are the same, not only assignable. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_Claim extends true>() => undefined;

const twoSizes = defineFlow({
  flowId: 'two-sizes',
  name: 'Two sizes',
  nodes: [
    sourceNode('photo'),
    scaleNode('small', { width: 400 }),
    scaleNode('large', { width: 1600 }, { keepOutput: true, retries: 1 }),
    encodeNode('web', { format: 'webp' }, { retries: 2 }),
    encodeNode('next', { format: 'avif' }, { keepOutput: false }),
  ],
  edges: [
    { source: 'photo', target: 'small' },
    { source: 'photo', target: 'large' },
    { source: 'small', target: 'web' },
    { source: 'large', target: 'next' },
  ],
});
holds<Same<FlowOutputs<typeof twoSizes>, 'web' | 'next' | 'large'>>();

const single = defineFlow({ flowId: 'single', name: 'Single', nodes: [sourceNode('photo')], edges: [] });
holds<Same<FlowOutputs<typeof single>, 'photo'>>();
// @ts-expect-error nobody is called "video"
holds<Same<FlowOutputs<typeof single>, 'video'>>();

const nodes = [
  sourceNode('photo'),
  scaleNode('small', { width: 400 }),
  encodeNode('web', { format: 'webp' }),
  readTextNode('text'),
  resultNode('result'),
] as const;
const named = { flowId: 'refused', name: 'Refused', nodes };

defineFlow({ ...named, edges: [{ source: 'text', target: 'result' }] });
// @ts-expect-error unknown source
defineFlow({ ...named, edges: [{ source: 'foto', target: 'small' }] });
// @ts-expect-error unknown target
defineFlow({ ...named, edges: [{ source: 'photo', target: 'smal' }] });
// @ts-expect-error text into an image kind
defineFlow({ ...named, edges: [{ source: 'text', target: 'small' }] });
defineFlow({
  ...named,
  edges: [
    { source: 'photo', target: 'text' },
    // @ts-expect-error the same beside an edge that is right
    { source: 'text', target: 'web' },
  ],
});
// @ts-expect-error an edge to itself
defineFlow({ ...named, edges: [{ source: 'small', target: 'small' }] });
// @ts-expect-error an input takes nothing
defineFlow({ ...named, edges: [{ source: 'small', target: 'photo' }] });
// @ts-expect-error unknown key of an edge
defineFlow({ ...named, edges: [{ source: 'photo', target: 'small', handle: 'x' }] });
// @ts-expect-error unknown key of a flow
defineFlow({ ...named, edges: [], retrys: 1 });

const handled = {
  flowId: 'handled',
  name: 'Handled',
  nodes: [...nodes, chooseNode('big'), stampNode('mark')] as const,
};
defineFlow({
  ...handled,
  edges: [
    { source: 'photo', target: 'big' },
    { source: 'big', sourceHandle: 'true', target: 'small' },
    { source: 'big', sourceHandle: 'false', target: 'mark' },
    { source: 'photo', target: 'mark', targetHandle: 'overlay' },
  ],
});
// @ts-expect-error a way out that is not there
defineFlow({ ...handled, edges: [{ source: 'big', sourceHandle: 'maybe', target: 'small' }] });
// @ts-expect-error a node with several ways out, and none is named
defineFlow({ ...handled, edges: [{ source: 'big', target: 'small' }] });
// @ts-expect-error a named way out of a node that has one
defineFlow({ ...handled, edges: [{ source: 'photo', sourceHandle: 'true', target: 'small' }] });
// @ts-expect-error a named input that no node has
defineFlow({ ...handled, edges: [{ source: 'photo', target: 'mark', targetHandle: 'mask' }] });
// @ts-expect-error no node of the flow has named inputs
defineFlow({ ...named, edges: [{ source: 'photo', target: 'small', targetHandle: 'overlay' }] });

// @ts-expect-error unknown option
scaleNode('small', { widht: 400 });
// @ts-expect-error wrong option
encodeNode('web', { format: 'bmp' });
// @ts-expect-error unknown setting
scaleNode('small', { width: 1 }, { keepOutput: true, timeuot: 1 });

// Any option may be a template, and what is inside of one.
scaleNode('small', { width: '{{params.width}}', left: '{{index}}%', region: { top: '{{meta.top}}' } });
encodeNode('web', { format: '{{params.format}}' });
// @ts-expect-error text without a template
scaleNode('small', { width: 'wide' });
// @ts-expect-error a template for an option that is not there
scaleNode('small', { widht: '{{params.width}}' });
// @ts-expect-error a type of JSON Schema that is not taken
defineFlow({ ...named, edges: [], params: { type: 'object', properties: { width: { type: 'int' } } } });

// A registry takes kinds with options of their own.
testKinds satisfies NodeKinds;

// What the schema of flow files lets through is a definition, with every key that a definition may have.
type FlowFile = Static<typeof flowShape>;
holds<FlowFile extends FlowDefinition ? true : false>();
holds<Same<keyof FlowFile, keyof FlowDefinition | '$schema'>>();
holds<Same<keyof FlowFile['nodes'][string], keyof FlowNode>>();
holds<Same<keyof FlowFile['edges'][number], keyof FlowEdge>>();
holds<Same<keyof NonNullable<FlowFile['input']>, keyof FlowInputLimits>>();
