/**
 * One photo in, two WebP files out: 400 and 1600 pixels wide, made side by side. The job's outputs are called
 * `small-web` and `large-web`, after the nodes that nothing consumes.
 */
import { defineFlow, inputNode, optimizeNode, resizeNode } from 'sluice';

export default defineFlow({
  flowId: 'two-sizes',
  name: 'Two sizes',
  description: 'A photo as WebP in two widths, 400 and 1600 pixels',
  nodes: [
    inputNode('photo', { allowedMimeTypes: ['image/*'] }),
    resizeNode('small', { width: 400 }),
    resizeNode('large', { width: 1600 }),
    optimizeNode('small-web', { format: 'webp', quality: 80 }),
    optimizeNode('large-web', { format: 'webp', quality: 80 }),
  ],
  edges: [
    { source: 'photo', target: 'small' },
    { source: 'photo', target: 'large' },
    { source: 'small', target: 'small-web' },
    { source: 'large', target: 'large-web' },
  ],
});
