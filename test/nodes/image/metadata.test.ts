import sharp, { type Metadata } from 'sharp';
import t from 'tap';
import { carriesMore } from '../../../src/nodes/image/metadata.ts';
import { optimizeNode } from '../../../src/nodes/index.ts';
import { only, runKind } from '../../support/run-kind.ts';

const header = (parts: Partial<Metadata>): Metadata => parts as Metadata;

t.test('a file carries more than allowed when it has anything beside pixels', async (t) => {
  t.equal(carriesMore(header({}), 'none'), false);
  for (const part of ['exif', 'xmp', 'iptc', 'icc', 'tifftagPhotoshop'] as const) {
    t.equal(carriesMore(header({ [part]: Buffer.alloc(1) }), 'none'), true, part);
    t.equal(carriesMore(header({ [part]: Buffer.alloc(1) }), 'all'), false, part);
  }
  t.equal(carriesMore(header({ comments: [{ keyword: 'Author', text: 'Ann' }] }), 'copyright'), true);
});

t.test('texts in parentheses survive', async (t) => {
  const picture = sharp({ create: { width: 9, height: 9, channels: 3, background: '#abc' } });
  const bytes = await picture
    .withExif({ IFD0: { Copyright: '(c) Ann (2026) (ASCII)' } })
    .jpeg()
    .toBuffer();
  const options = { metadata: 'copyright', keepIfLarger: 'encoded' } as const;
  const { bytes: written } = await only(runKind(t, optimizeNode, options, [{ bytes, mimeType: 'image/jpeg' }]));
  t.ok(written.includes('(c) Ann (2026)\0'));
});
