import { test } from 'tap';
import { type TProperties, Type } from 'typebox';
import { defineNode, type NodeFile } from '../../src/ports/node.ts';
import { atPlaces, batchesOf, passFiles, resolveOptions } from '../../src/ports/node-options.ts';

const nodeOf = (properties: TProperties, pass?: Parameters<typeof defineNode>[0]['pass']) =>
  defineNode({
    kind: 'test',
    name: 'Test',
    role: 'process',
    accepts: ['*/*'],
    options: Type.Object(properties, { additionalProperties: false }),
    produces: (_options, incoming) => incoming,
    check: (options) => ((options as { width?: number }).width === 13 ? 'width 13 brings bad luck' : undefined),
    ...(pass === undefined ? {} : { pass }),
  });

const kind = nodeOf({
  width: Type.Optional(Type.Integer({ minimum: 1 })),
  text: Type.Optional(Type.String({ maxLength: 20 })),
});
const values = { params: { width: 640, text: 'hello', bad: 'x' }, job: { id: 'j' } };
const file = (fileName: string, more: Partial<NodeFile> = {}): NodeFile => ({
  fileName,
  mimeType: 'image/png',
  size: 7,
  ...more,
});

test('options without templates are what the definition has', async (t) => {
  const options = { anything: 5 };
  t.equal(resolveOptions(kind, options, values), options);
});

test('expanded options fit the kind', async (t) => {
  t.strictSame(resolveOptions(kind, { width: '{{params.width}}', text: '{{params.text}}!' }, values), {
    width: 640,
    text: 'hello!',
  });
});

test('what does not fit names its option, and is not tried again', async (t) => {
  const refused: readonly (readonly [options: Record<string, unknown>, option: string, message: string])[] = [
    [{ width: '{{params.bad}}' }, 'width', 'option "width" must be integer'],
    [{ width: '{{params.width}} px' }, 'width', 'option "width" must be integer'],
    [{ text: `{{params.text}}${'x'.repeat(20)}` }, 'text', 'option "text" must not have more than 20 characters'],
    [{ width: 13, text: '{{params.text}}' }, 'width', 'options: width 13 brings bad luck'],
    [{ text: '{{params.none}}' }, 'text', 'option "text": {{params.none}} has no value'],
  ];
  for (const [options, option, message] of refused) {
    t.throws(() => resolveOptions(kind, options, values), { code: 'INVALID_PARAMS', message, details: { option } });
  }
});

test('without facts of files all files are one batch', async (t) => {
  const files = [file('a.png'), file('b.png', { handle: 'overlay' })];
  const step = { nodeId: 'n1', options: { text: '{{node.id}}' } };
  t.strictSame(batchesOf(kind, step, files, values), [{ options: { text: 'n1' }, files, places: [0, 1] }]);
});

test('with facts of files each main file is a batch, and files of named inputs go along', async (t) => {
  const overlay = file('logo.png', { handle: 'overlay' });
  const files = [file('a.png', { meta: { page: 3 } }), overlay, file('b.tar.gz', { meta: { page: 4 } })];
  const text = '{{index}} {{file.baseName}} {{file.extension}} {{meta.page}}';
  const batches = batchesOf(kind, { nodeId: 'n1', options: { text } }, files, values);
  t.strictSame(batches, [
    { options: { text: '0 a png 3' }, files: [files[0], overlay], places: [0, 1] },
    { options: { text: '1 b.tar gz 4' }, files: [files[2], overlay], places: [2, 1] },
  ]);
  t.strictSame(atPlaces(batches[1] ?? { options: {}, files: [], places: [] }, [{ path: 'x' }, { passes: 0 }]), [
    { path: 'x' },
    { passes: 2 },
  ]);
  t.strictSame(batchesOf(kind, { nodeId: 'n1', options: { text } }, [overlay], values), []);
});

test('names without an extension, and the facts of a file', async (t) => {
  const facts = (fileName: string) =>
    batchesOf(
      kind,
      { nodeId: 'n', options: { text: '{{file.baseName}}|{{file.extension}}|{{file.size}}' } },
      [file(fileName)],
      values,
    )[0]?.options['text'];
  t.equal(facts('README'), 'README||7');
  t.equal(facts('.env'), '.env||7');
  t.equal(facts('a.'), 'a||7');
});

test('a kind that passes files on decides for each file where its options name one', async (t) => {
  const chooser = nodeOf({ over: Type.Integer() }, (options, files) =>
    files.map(({ size }, passes) => ({ passes, handle: String(size > Number((options as { over: number }).over)) })),
  );
  const files = [file('a', { size: 5, meta: { min: 9 } }), file('b', { size: 5, meta: { min: 1 } })];
  const step = { nodeId: 'n', options: { over: '{{meta.min}}' } };
  t.strictSame(passFiles(chooser, step, files, values), [
    { passes: 0, handle: 'false' },
    { passes: 1, handle: 'true' },
  ]);
  t.strictSame(passFiles(chooser, { ...step, options: { over: 1 } }, files, values)?.length, 2);
  t.throws(() => passFiles(chooser, step, [file('c')], values), { code: 'INVALID_PARAMS' });
});

test('a hash is known where the worker has made it, and never in the server process', async (t) => {
  const step = { nodeId: 'n', options: { text: '{{file.hash}}' } };
  t.match(batchesOf(kind, step, [file('a', { hash: 'abc' })], values), [{ options: { text: 'abc' } }]);
  t.throws(() => batchesOf(kind, step, [file('a')], values), { code: 'INVALID_PARAMS' });
  const passing = nodeOf({ text: Type.String() }, () => []);
  t.equal(passFiles(passing, step, [file('a')], values), undefined);
});

test('a kind hears what the job was started with', async (t) => {
  const heard: unknown[] = [];
  const hears = nodeOf({}, (_options, _files, params) => {
    heard.push(params);
    return [];
  });
  passFiles(hears, { nodeId: 'n', options: {} }, [], values);
  passFiles(hears, { nodeId: 'n', options: {} }, [], {});
  t.strictSame(heard, [values.params, {}]);
});

test('a kind that must look at the files passes nothing on', async (t) => {
  t.equal(passFiles(kind, { nodeId: 'n', options: {} }, [file('a')], values), undefined);
  const looks = nodeOf({}, () => undefined);
  t.equal(passFiles(looks, { nodeId: 'n', options: {} }, [file('a')], values), undefined);
});
