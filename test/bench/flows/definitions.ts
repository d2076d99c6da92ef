/** The flows that are measured. `recipes` does by hand in sharp what those of images do. */
import type { FlowDefinition, FlowNode } from '../../../src/domain/flow.ts';

/** One node after the other; the first is the input. */
const chain = (flowId: string, nodes: Readonly<Record<string, FlowNode>>): FlowDefinition => ({
  flowId,
  name: flowId,
  nodes,
  edges: Object.keys(nodes)
    .slice(1)
    .map((target, index) => ({ source: Object.keys(nodes)[index] ?? '', target })),
});

/** The key of every input. */
export const inputKey = 'photo';

const photo = { [inputKey]: { type: 'file-input' } };
const web = { type: 'optimize', options: { format: 'webp', quality: 80, effort: 4 } };
const width = (pixels: number) => ({ type: 'resize', options: { width: pixels } });

/** Pixels. */
export const widths = [1600, 1200, 800, 400] as const;
const names = widths.map((pixels) => `only-${pixels}`);

const fourSizes: FlowDefinition = {
  flowId: 'four-sizes',
  name: 'four-sizes',
  nodes: {
    ...photo,
    ...Object.fromEntries(
      widths.flatMap((pixels) => [
        [`at-${pixels}`, width(pixels)],
        [`web-${pixels}`, web],
      ]),
    ),
  },
  edges: widths.flatMap((pixels) => [
    { source: inputKey, target: `at-${pixels}` },
    { source: `at-${pixels}`, target: `web-${pixels}` },
  ]),
};

const flows = [
  // Nodes that hand on what they get: nothing but the engine is at work.
  chain('no-op', {
    ...photo,
    ...{ first: { type: 'merge' }, second: { type: 'merge' }, third: { type: 'merge' } },
    result: { type: 'output' },
  }),
  chain('image', { ...photo, resized: width(1024), web }),
  chain('chain', {
    ...photo,
    resized: width(1600),
    grey: { type: 'grayscale' },
    turned: { type: 'rotate', options: { angle: 90 } },
    web,
  }),
  fourSizes,
  ...widths.map((pixels, index) => chain(names[index] ?? '', { ...photo, resized: width(pixels), web })),
];

/** By their ids. */
export const benchFlows: Readonly<Record<string, FlowDefinition>> = Object.fromEntries(
  flows.map((flow) => [flow.flowId, flow]),
);

/** The flows of one size each that together do what `four-sizes` does. */
export const singleSizes: readonly string[] = names;
