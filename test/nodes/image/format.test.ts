import t from 'tap';
import { formatOf, imageGlobs, imageTypes, isAnimatable, typeOf } from '../../../src/nodes/image/format.ts';

t.test('formats and types belong together', async (t) => {
  for (const type of imageTypes) t.equal(typeOf(formatOf(type) ?? 'png'), type);
  t.equal(formatOf('image/svg+xml'), undefined);
  t.equal(formatOf('image/heif'), undefined);
  t.same(
    imageTypes.filter((type) => isAnimatable(formatOf(type) ?? 'png')),
    ['image/webp', 'image/gif'],
  );
});

t.test('of what comes in, images go on', async (t) => {
  t.same(imageGlobs(['*/*', 'image/png', 'application/pdf']), ['image/*', 'image/png']);
  t.same(imageGlobs(['text/*']), []);
});
