import { test } from 'tap';
import { extensionOf, matchesMediaType, mediaTypeOfName, mediaTypesOverlap } from '../../src/domain/media-type.ts';

test('a type matches itself, its main type with a star, and everything', async (t) => {
  for (const glob of ['image/png', 'image/*', '*/*', 'IMAGE/PNG']) t.ok(matchesMediaType('image/png', [glob]), glob);
  for (const glob of ['image/jpeg', 'text/*', 'image/pn']) t.notOk(matchesMediaType('image/png', [glob]), glob);
  t.ok(matchesMediaType('text/plain; charset=utf-8', ['text/plain']), 'parameters are ignored');
  t.ok(matchesMediaType('image/png', ['text/*', 'image/*']), 'one of several is enough');
  t.notOk(matchesMediaType('image/png', []));
});

test('globs overlap when some type fits both', async (t) => {
  t.ok(mediaTypesOverlap(['image/*'], ['image/png']));
  t.ok(mediaTypesOverlap(['*/*'], ['text/plain']));
  t.ok(mediaTypesOverlap(['text/plain', 'image/png'], ['image/*']));
  t.notOk(mediaTypesOverlap(['text/plain'], ['image/*']));
  t.notOk(mediaTypesOverlap(['image/png'], ['image/jpeg']));
  t.notOk(mediaTypesOverlap(['*/*'], []));
});

test('file extensions', async (t) => {
  t.equal(extensionOf('image/jpeg'), 'jpg');
  t.equal(extensionOf('application/x-unknown'), 'bin');
});

test('types by the extensions of file names', async (t) => {
  t.equal(mediaTypeOfName('a.b/photo.JPG'), 'image/jpeg');
  t.equal(mediaTypeOfName('photo.jpeg'), 'image/jpeg');
  t.equal(mediaTypeOfName('scan.tif'), 'image/tiff');
  for (const name of ['photo', 'photo.', '.gitignore', 'a.unknown', 'constructor', 'a.constructor']) {
    t.equal(mediaTypeOfName(name), '', name);
  }
});
