import t from 'tap';
import { Value } from 'typebox/value';
import { mergeNode } from '../../src/nodes/index.ts';
import type { NodeFile } from '../../src/ports/node.ts';

type Options = Parameters<NonNullable<typeof mergeNode.pass>>[0];

const file = (edge?: number): NodeFile => ({
  fileName: 'a.txt',
  mimeType: 'text/plain',
  size: 1,
  ...(edge !== undefined && { edge }),
});

t.test('append hands on all files, in the order of their edges', async (t) => {
  const files = [file(2), file(0), file(2), file(1)];
  const ordered = [{ passes: 1 }, { passes: 3 }, { passes: 0 }, { passes: 2 }];
  t.same(mergeNode.pass?.({}, files, {}), ordered, 'by default');
  t.same(mergeNode.pass?.({ strategy: 'append' }, files, {}), ordered);
  t.same(mergeNode.pass?.({}, [file(), file()], {}), [{ passes: 0 }, { passes: 1 }]);
});

t.test('first hands on the files of the first edge that has any', async (t) => {
  t.same(mergeNode.pass?.({ strategy: 'first' }, [file(3), file(1), file(3), file(1)], {}), [
    { passes: 1 },
    { passes: 3 },
  ]);
  t.same(mergeNode.pass?.({ strategy: 'first' }, [file(), file()], {}), [{ passes: 0 }, { passes: 1 }]);
});

t.test('only images and concat need the bytes', async (t) => {
  t.equal(mergeNode.pass?.({ strategy: 'images' }, [file()], {}), undefined);
  t.equal(mergeNode.pass?.({ strategy: 'concat' }, [file()], {}), undefined);
});

t.test('it delivers what its strategy makes', async (t) => {
  const incoming = ['image/png', 'text/*'];
  t.same(mergeNode.produces({}, incoming), incoming);
  t.same(mergeNode.produces({ strategy: 'first' }, incoming), incoming);
  t.same(mergeNode.produces({ strategy: 'images' }, incoming), ['image/png']);
  t.same(mergeNode.produces({ strategy: 'images', format: 'webp' }, incoming), ['image/webp']);
  t.same(mergeNode.produces({ strategy: 'concat' }, incoming), [...incoming, 'application/octet-stream']);
  t.same(mergeNode.produces({ strategy: 'concat' }, ['text/plain']), ['text/plain']);
  t.same(mergeNode.produces({ strategy: 'concat' }, ['text/*']), ['text/*', 'application/octet-stream']);
});

t.test('options belong to a strategy', async (t) => {
  const sheetOptions: Options[] = [
    { direction: 'vertical' },
    { across: 2 },
    { width: 5 },
    { height: 5 },
    { shim: 1 },
    { background: '#fff' },
    { halign: 'left' },
    { valign: 'top' },
    { format: 'jpeg' },
  ];
  for (const option of sheetOptions) {
    const [name = ''] = Object.keys(option);
    t.equal(mergeNode.check?.({ strategy: 'images', ...option }), undefined, name);
    for (const strategy of ['append', 'first', 'concat'] as const) {
      t.equal(mergeNode.check?.({ strategy, ...option }), `${name} is an option of the strategy images`);
    }
    t.equal(mergeNode.check?.(option), `${name} is an option of the strategy images`);
  }
  t.equal(mergeNode.check?.({ strategy: 'concat', separator: ',' }), undefined);
  t.equal(mergeNode.check?.({ separator: ',' }), 'separator is an option of the strategy concat');
  t.match(mergeNode.check?.({ strategy: 'images', separator: ',' }), /strategy concat/);
  t.match(mergeNode.check?.({ strategy: 'images', across: 2, direction: 'vertical' }), /^across takes the place/);
  t.match(mergeNode.check?.({ strategy: 'images', quality: 5 }), /^quality is for jpeg and webp/);
  t.equal(mergeNode.check?.({ strategy: 'images', format: 'jpeg', quality: 5 }), undefined);
  t.equal(mergeNode.check?.({}), undefined);
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(mergeNode.options, options);
  t.ok(valid({}));
  t.ok(valid({ strategy: 'images', across: 3, width: 10, shim: 2, background: '#fff8', format: 'webp', quality: 1 }));
  for (const options of [
    { strategy: 'pdf' },
    { across: 0 },
    { width: 16_384 },
    { height: 0 },
    { shim: -1 },
    { shim: 1001 },
    { background: 'white' },
    { halign: 'top' },
    { valign: 'left' },
    { format: 'gif' },
    { quality: 101 },
    { separator: 'x'.repeat(1001) },
    { mode: 'append' },
  ]) {
    t.notOk(valid(options), JSON.stringify(options).slice(0, 60));
  }
});
