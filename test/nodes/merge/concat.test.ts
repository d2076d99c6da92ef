import t from 'tap';
import { mergeNode } from '../../../src/nodes/index.ts';
import { only, runKind } from '../../support/run-kind.ts';

t.test('concat puts the bytes one after the other', async (t) => {
  const texts = ['one', '', 'drei €'].map((text) => ({
    bytes: Buffer.from(text),
    mimeType: 'text/plain',
    fileName: 'notes.txt',
  }));
  const { output, bytes } = await only(runKind(t, mergeNode, { strategy: 'concat' }, texts));
  t.equal(String(bytes), 'onedrei €');
  t.match(output, { mimeType: 'text/plain', fileName: 'merged.txt', meta: {} });
  const separated = await only(runKind(t, mergeNode, { strategy: 'concat', separator: '\n--\n' }, texts));
  t.equal(String(separated.bytes), 'one\n--\n\n--\ndrei €');
});

t.test('the type is that of all files, or none', async (t) => {
  const typed = async (...types: string[]) => {
    const files = types.map((mimeType) => ({ bytes: Buffer.from('x'), mimeType, fileName: 'a.csv' }));
    const { output } = await only(runKind(t, mergeNode, { strategy: 'concat' }, files));
    return [output.mimeType, output.fileName];
  };
  t.same(await typed('text/csv', 'text/csv'), ['text/csv', 'merged.csv']);
  t.same(await typed('text/csv', 'text/plain'), ['application/octet-stream', 'merged.bin']);
  t.same(await typed('text/csv; charset=utf-8', 'text/csv; charset=utf-8'), ['text/csv; charset=utf-8', 'merged.csv']);
  t.same(await typed('text/csv; charset=utf-8', 'Text/CSV'), ['text/csv', 'merged.csv']);
});

t.test('a large file streams through', async (t) => {
  const large = { bytes: Buffer.alloc(5_000_000, 'a'), mimeType: 'text/plain' };
  const { bytes } = await only(runKind(t, mergeNode, { strategy: 'concat', separator: '|' }, [large, large]));
  t.equal(bytes.length, 10_000_001);
  t.equal(bytes[5_000_000], 124);
});
