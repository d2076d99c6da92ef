/** A small AVIF for lists and cards: few bytes, at the price of a slower encoder. Plain JavaScript, no types needed. */
import { defineFlow, inputNode, optimizeNode, outputNode, resizeNode } from 'sluice';

export default defineFlow({
  flowId: 'avif-preview',
  name: 'AVIF preview',
  description: 'A picture as AVIF, at most 800 pixels on its longer side',
  nodes: [
    inputNode('picture', { allowedMimeTypes: ['image/*'] }),
    resizeNode('fit', { width: 800, height: 800, fit: 'inside' }),
    optimizeNode('encode', { format: 'avif', quality: 50 }),
    outputNode('preview'),
  ],
  edges: [
    { source: 'picture', target: 'fit' },
    { source: 'fit', target: 'encode' },
    { source: 'encode', target: 'preview' },
  ],
});
