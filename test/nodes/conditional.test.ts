import { readFile, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { Value } from 'typebox/value';
import type { ParamsSchema } from '../../src/domain/params.ts';
import type { JsonValue } from '../../src/domain/upload.ts';
import { conditionalNode } from '../../src/nodes/index.ts';
import type { NodeFile } from '../../src/ports/node.ts';
import type { PassedFile, WorkerFile } from '../../src/ports/worker-pool.ts';
import { makePhoto } from '../support/photo.ts';
import { limits } from '../support/run-kind.ts';
import { temporaryDirectory } from '../support/temporary.ts';

type Options = Parameters<NonNullable<typeof conditionalNode.pass>>[0];

const wide: Options = { conditions: [{ field: 'meta.width', operator: 'gt', value: 100 }] };

const file = (change: Partial<NodeFile> = {}): NodeFile => ({
  fileName: 'a.jpg',
  mimeType: 'image/jpeg',
  size: 5,
  ...change,
});

const run = async (
  t: Test,
  options: Options,
  files: readonly (Omit<WorkerFile, 'path'> & { bytes: Buffer })[],
  params = {},
) => {
  const directory = await temporaryDirectory(t);
  const written = files.map(async ({ bytes, ...rest }, index) => {
    const path = `${directory}/${index}`;
    await writeFile(path, bytes);
    return { ...rest, path };
  });
  const all = await Promise.all(written);
  const rest = { directory, intermediate: false, limits, params, progress: () => {} };
  const outputs = await conditionalNode.run?.({ options, files: all, ...rest });
  return (outputs ?? []) as readonly PassedFile[];
};

t.test('it has two ways out, and takes everything', async (t) => {
  t.same(conditionalNode.outputHandles, ['true', 'false']);
  t.same(conditionalNode.accepts, ['*/*']);
  t.same(conditionalNode.produces(wide, ['image/png', 'text/*']), ['image/png', 'text/*']);
});

t.test('it decides for each file, without opening any when that is not needed', async (t) => {
  const files = [file({ meta: { width: 101 } }), file({ meta: { width: 100 } }), file({ mimeType: 'text/plain' })];
  t.same(conditionalNode.pass?.(wide, files, {}), [
    { passes: 0, handle: 'true' },
    { passes: 1, handle: 'false' },
    { passes: 2, handle: 'false' },
  ]);
  t.equal(conditionalNode.pass?.(wide, [...files, file()], {}), undefined, 'an upload has to be opened');
});

t.test('match is how many conditions must hold', async (t) => {
  const conditions = [
    { field: 'file.size', operator: 'eq', value: 5 },
    { field: 'file.name', operator: 'eq', value: 'b.jpg' },
  ] as const;
  const handle = (match?: 'all' | 'any') =>
    conditionalNode.pass?.({ conditions: [...conditions], ...(match && { match }) }, [file()], {})?.[0]?.handle;
  t.equal(handle(), 'false', 'all by default');
  t.equal(handle('all'), 'false');
  t.equal(handle('any'), 'true');
});

t.test('a header is read where it is asked for, and what it says is handed on', async (t) => {
  const upright = { bytes: await makePhoto({ width: 120, height: 80, orientation: 8 }), mimeType: 'image/jpeg' };
  const text = { bytes: Buffer.from('Dear reader'), mimeType: 'text/plain', fileName: 'a.txt' };
  const damaged = { bytes: Buffer.from('Dear reader'), mimeType: 'image/png', fileName: 'a.png' };
  const photo = { ...upright, fileName: 'a.jpg' };
  const found = { width: 120, height: 80, pages: 1, hasAlpha: false, orientation: 8 };
  t.same(await run(t, wide, [photo, text, damaged]), [
    { passes: 0, handle: 'true', meta: found },
    { passes: 1, handle: 'false' },
    { passes: 2, handle: 'false', meta: {} },
  ]);
  const less: Options = { conditions: [{ field: 'meta.megapixels', operator: 'lt', value: 0.0096 }] };
  t.match(await run(t, less, [photo]), [{ handle: 'false' }]);
  const none: Options = { conditions: [{ field: 'meta.width', operator: 'exists', value: false }] };
  t.match(await run(t, none, [photo, damaged]), [{ handle: 'false' }, { handle: 'true' }]);
});

t.test('what is known before stands', async (t) => {
  const bytes = await sharp({ create: { width: 50, height: 50, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  const image = { bytes, mimeType: 'image/png', fileName: 'a.png', meta: { width: 500 } };
  const options: Options = {
    conditions: [...wide.conditions, { field: 'meta.orientation', operator: 'eq', value: 1 }],
  };
  t.match(await run(t, options, [image]), [{ handle: 'true' }]);
});

t.test('what the job was started with decides, too', async (t) => {
  const options: Options = { conditions: [{ field: 'params.size.width', operator: 'gt', value: 100 }] };
  const pass = (params: { [key: string]: JsonValue }) => conditionalNode.pass?.(options, [file()], params)?.[0]?.handle;
  t.equal(pass({ size: { width: 101 } }), 'true');
  t.equal(pass({ size: { width: 100 } }), 'false');
  for (const params of [{}, { size: 101 }, { size: { width: null } }]) t.equal(pass(params), 'false');
  const photo = { bytes: await makePhoto({ width: 20, height: 10 }), mimeType: 'image/jpeg', fileName: 'a.jpg' };
  const both: Options = { conditions: [...options.conditions, { field: 'meta.width', operator: 'eq', value: 20 }] };
  t.match(await run(t, both, [photo], { size: { width: 101 } }), [{ handle: 'true' }]);
  t.match(await run(t, both, [photo], { size: { width: 1 } }), [{ handle: 'false' }]);
});

t.test('parameters that the flow does not have are found when it is loaded', async (t) => {
  const problem = (field: string, params?: ParamsSchema) =>
    conditionalNode.check?.({ conditions: [{ field, operator: 'exists' }] }, { params });
  const params: ParamsSchema = {
    type: 'object',
    properties: { size: { type: 'object', properties: { width: { type: 'integer' } } } },
  };
  t.equal(problem('params.size.width', params), undefined);
  t.equal(
    problem('params.width', params),
    'conditions.0.field: "params.width": unknown parameter "width"; known: size',
  );
  t.match(problem('params.size', params), /it is an object; name a part of it/);
  t.match(problem('params.width'), /the flow has no params/);
  t.match(problem('params', params), /unknown field/);
});

t.test('only the header is read, of however many pixels', async (t) => {
  const bytes = (await makePhoto({ width: 900, height: 600 })).subarray(0, 3000);
  t.match(await run(t, wide, [{ bytes, mimeType: 'image/jpeg', fileName: 'a.jpg' }]), [{ handle: 'true' }]);
  const source = await readFile(new URL('../../src/nodes/conditional.ts', import.meta.url), 'utf8');
  t.notMatch(source, /from 'sharp'/, 'the server reads this file too');
});

t.test('mistakes are found when the flow is loaded', async (t) => {
  const problem = (field: string, operator: string, value?: unknown) =>
    conditionalNode.check?.({ conditions: [{ field, operator, value }] } as Options);
  for (const [field, operator, value] of [
    ['file.name', 'matches', '*.jpg'],
    ['meta.text', 'contains', 'x'],
    ['meta.width', 'gt', '{{params.width}}'],
    ['file.size', 'lte', '20mb'],
    ['file.extension', 'in', ['jpg']],
    ['meta.width', 'exists', undefined],
    ['meta.width', 'exists', false],
  ] as const) {
    t.equal(problem(field, operator, value), undefined, `${field} ${operator} ${value}`);
  }
  t.match(problem('file.nmae', 'eq', 1), /^conditions\.0\.field: unknown field "file.nmae"; known: file.name, /);
  for (const field of ['name', 'meta', 'meta.', 'meta.a-b', 'params', 'params.', 'file.path']) {
    t.match(problem(field, 'eq', 1), /unknown field/, field);
  }
  t.equal(problem('meta.width', 'gt', 'wide'), 'conditions.0.value: gt needs a number, or a size such as "20mb"');
  t.equal(problem('meta.width', 'eq'), 'conditions.0.value: eq is missing');
  t.match(problem('meta.width', 'in', 5), /in needs a list/);
  t.match(problem('meta.width', 'eq', [5]), /eq needs one value/);
  t.match(problem('file.name', 'contains', 5), /contains needs a text/);
  t.match(problem('file.name', 'exists', 'yes'), /exists needs true or false/);
});

t.test('options are checked', async (t) => {
  const valid = (options: unknown) => Value.Check(conditionalNode.options, options);
  const condition = { field: 'file.size', operator: 'gt', value: 5 };
  t.ok(valid({ conditions: [condition], match: 'any' }));
  for (const options of [
    {},
    { conditions: [] },
    { conditions: [condition], match: 'some' },
    { conditions: [{ ...condition, operator: 'like' }] },
    { conditions: [{ ...condition, value: { a: 1 } }] },
    { conditions: [{ ...condition, value: [] }] },
    { conditions: [{ ...condition, unit: 'mb' }] },
    { conditions: [{ operator: 'gt' }] },
    { conditions: Array(51).fill(condition) },
  ]) {
    t.notOk(valid(options), JSON.stringify(options).slice(0, 100));
  }
});
