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
type Width = (typeof widths)[number];

/** One size: a JPEG as it comes in, or encoded anew as WebP. */
const oneSize = (pixels: Width, isWebp: boolean): Readonly<Record<string, FlowNode>> => ({
  [`at-${pixels}`]: width(pixels),
  ...(isWebp ? { [`web-${pixels}`]: web } : {}),
});

const idOf = (pixels: Width, isWebp: boolean): string => `${isWebp ? 'webp' : 'jpeg'}-${pixels}`;

const fourSizes = (flowId: string, isWebp: boolean): FlowDefinition => ({
  flowId,
  name: flowId,
  nodes: { ...photo, ...Object.assign({}, ...widths.map((pixels) => oneSize(pixels, isWebp))) },
  edges: widths.flatMap((pixels) => [
    { source: inputKey, target: `at-${pixels}` },
    ...(isWebp ? [{ source: `at-${pixels}`, target: `web-${pixels}` }] : []),
  ]),
});

const singles = (isWebp: boolean): readonly FlowDefinition[] =>
  widths.map((pixels) => chain(idOf(pixels, isWebp), { ...photo, ...oneSize(pixels, isWebp) }));

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
  fourSizes('four-jpegs', false),
  ...singles(false),
  fourSizes('four-webps', true),
  ...singles(true),
];

/** By their ids. */
export const benchFlows: Readonly<Record<string, FlowDefinition>> = Object.fromEntries(
  flows.map((flow) => [flow.flowId, flow]),
);

/** The flows of one size each that together do what `four-jpegs` and `four-webps` do. */
export const singleJpegs: readonly string[] = widths.map((pixels) => idOf(pixels, false));
export const singleWebps: readonly string[] = widths.map((pixels) => idOf(pixels, true));
