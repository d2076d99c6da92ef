import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { safeFileName } from '../../src/domain/file-name.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const safe = (name: string) => safeFileName(name, 'none');
/** Readable in a report, whatever is in it. */
const shown = (text: string) => encodeURIComponent(text.toWellFormed());
const bytesOf = (text: string) => Buffer.byteLength(text);

t.test('ordinary names stay as they are', (t) => {
  for (const name of [
    'a.png',
    'Grüße (2).tar.gz',
    'フォト 1.jpg',
    'a..b',
    'no extension',
    '👩‍👩‍👧.png',
    "it's.txt",
    '50%.md',
  ]) {
    t.equal(safe(name), name);
  }
  t.end();
});

t.test('hostile names become harmless ones', (t) => {
  for (const [name, expected] of [
    ['../../etc/passwd', '_.._etc_passwd'],
    ['..\\..\\boot.ini', '_.._boot.ini'],
    ['C:\\fakepath\\a.png', 'C__fakepath_a.png'],
    ['/etc/passwd', '_etc_passwd'],
    ['.htaccess', 'htaccess'],
    [' a.png. . ', 'a.png'],
    ['a\0.png', 'a.png'],
    ['a\r\nSet-Cookie: x=1', 'aSet-Cookie_ x=1'],
    ['a\x1b[31m\x7f\x85.png', 'a[31m.png'],
    ['photo\u202egnp.exe', 'photognp.exe'],
    ['\u2066a\u2069\u200f\u061c.png', 'a.png'],
    ['a\u2028b\ufeff.png', 'ab.png'],
    ['a<b>|c?*".png', 'a_b__c___.png'],
    ['a.txt:stream', 'a.txt_stream'],
    ['\ud800x\udc00', '\ufffdx\ufffd'],
    ['u\u0308.png', 'ü.png'],
    ['u\0\u0308.png', 'ü.png'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['com1 .png', '_com1 .png'],
    ['console.log', 'console.log'],
  ] as const) {
    t.equal(safe(name), expected, shown(name));
  }
  t.end();
});

t.test('what leaves nothing has the name that the caller knows', (t) => {
  for (const name of ['', '.', '..', ' . . ', '\0\r\n', '\u202e', '\u3000']) t.equal(safe(name), 'none');
  t.equal(safeFileName('..', ''), '');
  t.end();
});

t.test('a long name is cut to 255 bytes between characters, its extension kept', (t) => {
  t.equal(safe(`${'x'.repeat(300)}.jpeg`), `${'x'.repeat(250)}.jpeg`);
  t.equal(safe('x'.repeat(300)), 'x'.repeat(255));
  t.equal(safe(`${'ü'.repeat(200)}.jpeg`), `${'ü'.repeat(125)}.jpeg`);
  t.equal(safe(`${'😀'.repeat(100)}.jpg`), `${'😀'.repeat(62)}.jpg`);
  t.equal(safe(`${'x'.repeat(250)}. . . . .jpg`), `${'x'.repeat(250)}.jpg`, 'and the cut leaves no dot behind');
  t.equal(bytesOf(safe(`a.${'x'.repeat(300)}`)), 255, 'what is too long for an extension is none');
  t.equal(safe('x'.repeat(255)), 'x'.repeat(255));
  t.end();
});

t.test('a safe name is a name for the file system, and safe again', async (t) => {
  const directory = await temporaryDirectory(t);
  const pieces = [
    '/',
    '\\',
    '.',
    '..',
    ' ',
    '\0',
    '\n',
    '\u202e',
    '\ud800',
    '\udc00',
    'ü',
    '😀',
    'u\u0308',
    'x',
    '.jpg',
  ];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 300; round += 1) {
    const name = Array.from({ length: 1 + next(200) }, () => pieces[next(pieces.length)]).join('');
    const result = safe(name);
    t.equal(safe(result), result, shown(name));
    t.ok(bytesOf(result) <= 255 && result.isWellFormed());
    const place = join(directory, String(round));
    await mkdir(place);
    await writeFile(join(place, result), '');
    t.strictSame(await readdir(place), [result]);
  }
});
