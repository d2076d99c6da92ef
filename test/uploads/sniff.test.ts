import { FileTypeParser, fileTypeFromBuffer } from 'file-type';
import t from 'tap';
import { headLength } from '../../src/uploads/head.ts';
import { sniff } from '../../src/uploads/sniff.ts';

/** A head that begins with these bytes, or has them at an offset. */
const head = (bytes: Buffer | string, offset = 0): Buffer => {
  const all = Buffer.alloc(headLength);
  all.set(Buffer.from(bytes), offset);
  return all;
};

const hex = (text: string) => Buffer.from(text, 'hex');
const utf16 = (text: string) => Buffer.concat([hex('fffe'), Buffer.from(text, 'utf16le')]);

const heads: Readonly<Record<string, Buffer>> = {
  'image/png': head(hex('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489')),
  'image/jpeg': head(hex('ffd8ffe000104a46494600')),
  'image/webp': head('RIFF\x10\x00\x00\x00WEBPVP8 '),
  'image/avif': head('\x00\x00\x00\x1cftypavif'),
  'application/pdf': head('%PDF-1.7\n'),
  'application/gzip': head(hex('1f8b0800')),
  'application/xml': head('<?xml version="1.0"?>'),
  'text/vcard': head('BEGIN:VCARD\r\n'),
  'application/x-tar': head('ustar\x0000', 257),
  'audio/mpeg': head(hex('fffb9064')),
};

t.test('the type is what the first bytes show', async (t) => {
  for (const [type, bytes] of Object.entries(heads)) {
    t.strictSame(await sniff(bytes), { sniffed: true, detectedType: type }, type);
  }
  for (const nothing of [Buffer.alloc(0), Buffer.from('x'), head('text'), head('')]) {
    t.strictSame(await sniff(nothing), { sniffed: true });
  }
});

t.test('and what the library itself would say', async (t) => {
  const more = [utf16('<?xml version="1.0"?>'), utf16('Windows Registry Editor Version 5.00\r\n'), head('8BPS')];
  const short = Object.values(heads).map((bytes) => bytes.subarray(0, 12));
  for (const bytes of [...Object.values(heads), ...more, ...more.map((one) => head(one)), ...short]) {
    const expected = (await fileTypeFromBuffer(bytes))?.mime;
    t.equal((await sniff(bytes)).detectedType, expected, String(expected));
  }
});

t.test('whose parser still compares where this one does', (t) => {
  for (const name of ['check', 'checkString']) t.ok(name in FileTypeParser.prototype, name);
  t.end();
});
