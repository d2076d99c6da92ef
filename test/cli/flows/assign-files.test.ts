import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';
import { assignFiles, requireFiles } from '../../../src/cli/flows/assign-files.ts';
import { kinds } from '../../../src/nodes/index.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const flow = {
  flowId: 'x',
  name: 'X',
  nodes: {
    one: { type: 'file-input' },
    step: { type: 'resize' },
    many: { type: 'file-input', options: { maxFiles: 2 } },
    last: { type: 'file-input' },
  },
  edges: [],
};
const assign = (files: readonly string[], named: readonly string[] = []) =>
  Object.fromEntries(assignFiles({ kinds }, flow, files, named));

test('files go to the inputs in the order of the flow, as many to each as it takes', async (t) => {
  t.same(assign([]), { one: [], many: [], last: [] });
  t.same(assign(['a', 'b']), { one: ['a'], many: ['b'], last: [] });
  t.same(assign(['a', 'b', 'c', 'd']), { one: ['a'], many: ['b', 'c'], last: ['d'] });
});

test('inputs that are named take what was given for them, and only that', async (t) => {
  t.same(assign(['a', 'b'], ['many=x=1']), { one: ['a'], many: ['x=1'], last: ['b'] });
  t.same(assign([], ['many=x', 'many=y']), { one: [], many: ['x', 'y'], last: [] });
});

test('what fits nowhere is refused, with the inputs that there are', async (t) => {
  const wrong: readonly (readonly [files: readonly string[], named: readonly string[], message: RegExp])[] = [
    [['a', 'b', 'c', 'd', 'e'], [], /no input is left for e; inputs: one, many, last/],
    [[], ['step=a'], /there is no input "step"; inputs: one, many, last/],
    [[], ['one=a', 'one=b'], /input "one" takes at most 1 files/],
    [[], ['one'], /"one" is not as in --input nodeId=file/],
    [[], ['=a'], /"=a" is not as in --input nodeId=file/],
  ];
  for (const [files, named, message] of wrong) t.throws(() => assign(files, named), { exitCode: 2, message });
});

test('every input needs a file, and the files must be files', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'a');
  await writeFile(file, 'a');
  await t.resolves(requireFiles(flow, new Map([['one', [file]]])));
  await t.rejects(requireFiles(flow, new Map([['one', []]])), { exitCode: 2, message: /input "one" .* has no file/ });
  const optional = { ...flow, nodes: { one: { type: 'file-input', options: { required: false } } } };
  await t.resolves(requireFiles(optional, new Map([['one', []]])));
  await t.rejects(requireFiles(flow, new Map([['one', [directory]]])), { exitCode: 1, message: /is not a file/ });
  await t.rejects(requireFiles(flow, new Map([['one', [`${file}b`]]])), { code: 'ENOENT' });
});
