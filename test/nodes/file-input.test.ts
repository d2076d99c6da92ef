import t from 'tap';
import { Value } from 'typebox/value';
import { inputNode } from '../../src/nodes/index.ts';

t.test('it is an input with limits', async (t) => {
  t.match({ ...inputNode }, { kind: 'file-input', name: 'File Input', role: 'input', accepts: [] });
  const valid = (options: unknown) => Value.Check(inputNode.options, options);
  t.ok(valid({}));
  t.ok(
    valid({
      allowedMimeTypes: ['image/*', 'application/vnd.ms-excel', '*/*'],
      maxFileSize: 1,
      maxFiles: 100,
      required: false,
    }),
  );
  for (const options of [
    { allowedMimeTypes: [] },
    { allowedMimeTypes: ['image'] },
    { allowedMimeTypes: ['*/png'] },
    { allowedMimeTypes: ['image/png; q=1'] },
    { maxFileSize: 0 },
    { maxFiles: 0 },
    { maxFiles: 101 },
    { required: 'no' },
  ]) {
    t.notOk(valid(options), JSON.stringify(options));
  }
});

t.test('it delivers the types that it allows', async (t) => {
  t.same(inputNode.produces({ allowedMimeTypes: ['image/png'] }, ['image/*']), ['image/png']);
  t.same(inputNode.produces({}, ['image/*']), ['image/*'], "else the flow's");
});

t.test('the constructor makes plain data', async (t) => {
  const node = inputNode('photo', { maxFiles: 2 }, { keepOutput: true });
  t.same(JSON.parse(JSON.stringify(node)), {
    id: 'photo',
    type: 'file-input',
    options: { maxFiles: 2 },
    keepOutput: true,
  });
});
