import t from 'tap';
import { contentDisposition } from '../../src/http/disposition.ts';

const kind = (mimeType: string) => contentDisposition('', mimeType);

t.test('types that carry no script are shown', (t) => {
  for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'video/mp4', 'audio/ogg', 'text/plain']) {
    t.equal(kind(type), 'inline', type);
  }
  t.end();
});

t.test('everything else is downloaded', (t) => {
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/pdf',
    'application/xml',
    'text/xml',
    'application/octet-stream',
    '',
    'IMAGE/PNG',
    'image/png;',
    'image/png\nimage/png',
    'xtext/plain',
    'text/plainx',
    'video/<script>',
  ]) {
    t.equal(kind(type), 'attachment', JSON.stringify(type));
  }
  t.end();
});

t.test('the name stands twice: plain, and encoded with its script', (t) => {
  for (const [name, ascii, encoded] of [
    ['a.png', 'a.png', 'a.png'],
    ['Grüße.png', 'Gr__e.png', 'Gr%C3%BC%C3%9Fe.png'],
    ['a"b\\c.png', 'a_b_c.png', 'a_b_c.png'],
    ['50%41.png', '50_41.png', '50%2541.png'],
    ['../a/b', '_a_b', '_a_b'],
    ["('!')", "('!')", '%28%27!%27%29'],
    ['a\r\nb\0c\x7f', 'abc', 'abc'],
    ['a\u202eb', 'ab', 'ab'],
    ['\udc00x', '_x', '%EF%BF%BDx'],
  ] as const) {
    t.equal(contentDisposition(name, 'image/png'), `inline; filename="${ascii}"; filename*=UTF-8''${encoded}`);
  }
  t.end();
});

t.test('a name of which nothing is safe is left out', (t) => {
  t.equal(contentDisposition('..', 'image/png'), 'inline');
  t.end();
});

t.test('what comes out is always one header', (t) => {
  for (let code = 0; code < 0x300; code += 1) {
    const header = contentDisposition(`a${String.fromCharCode(code)}b`, 'image/png');
    t.match(header, /^inline; filename="[^"\\]*"; filename\*=UTF-8''[\w.~!%-]+$/, `code ${code}`);
    t.notMatch(header, /[^\x20-\x7e]/);
  }
  t.end();
});
