/** What is done to every file: each recipe is one task of the pool. */
import type { WorkerStep } from '../../src/ports/worker-pool.ts';

export interface Recipe {
  readonly name: string;
  readonly chains: readonly (readonly WorkerStep[])[];
  /** The file comes so many times; default once. */
  readonly copies?: number;
  /** The media type of what comes out; absent: any that a picture has. */
  readonly type?: string;
  /** The size of what comes out: that of the picture, or no side over so many pixels. */
  readonly size?: 'same' | number;
}

const chain = (...steps: readonly [kind: string, options: WorkerStep['options']][]): readonly WorkerStep[] =>
  steps.map(([kind, options], index) => ({
    nodeId: `${index}-${kind}`,
    kind,
    options,
    intermediate: index < steps.length - 1,
  }));

const optimize = (format: string, options: WorkerStep['options'] = {}): Recipe => ({
  name: `optimize ${format}`,
  chains: [chain(['optimize', { format, ...options }])],
  type: `image/${format}`,
  size: 'same',
});

const side = 320;

export const recipes: readonly Recipe[] = [
  {
    name: 'resize, webp',
    chains: [chain(['resize', { width: side, height: side }], ['optimize', { format: 'webp' }])],
    type: 'image/webp',
    size: side,
  },
  optimize('jpeg'),
  optimize('png'),
  optimize('webp', { effort: 0 }),
  optimize('avif', { effort: 0 }),
  { name: 'optimize', chains: [chain(['optimize', { metadata: 'copyright' }])], size: 'same' },
  { name: 'optimize, all metadata', chains: [chain(['optimize', { metadata: 'all', keepIfLarger: 'encoded' }])] },
  {
    name: 'crop, rotate, blur, watermark',
    chains: [
      chain(
        ['crop', { width: '75%', height: '75%' }],
        ['rotate', { angle: 17 }],
        ['blur', { sigma: 2 }],
        ['watermark', { text: 'Sluice', opacity: 0.5 }],
      ),
    ],
  },
  {
    name: 'blur regions',
    chains: [chain(['blur', { sigma: 8, regions: [{ left: '25%', top: '25%', width: '50%', height: '50%' }] }])],
  },
  { name: 'grayscale', chains: [chain(['grayscale', {}])], size: 'same' },
  {
    name: 'shared decoding',
    chains: [
      chain(['resize', { width: 64, height: 64 }], ['optimize', { format: 'jpeg' }]),
      chain(['resize', { width: 128, height: 128, fit: 'cover' }]),
    ],
    size: 128,
  },
  {
    name: 'merge images',
    chains: [chain(['merge', { strategy: 'images', width: 100, height: 100 }])],
    copies: 2,
    type: 'image/png',
    size: 200,
  },
  {
    name: 'conditional',
    chains: [chain(['conditional', { conditions: [{ field: 'meta.width', operator: 'gt', value: 100 }] }])],
  },
];
