import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import t from 'tap';
import { run } from '../../src/workers/program.ts';
import { madeBy, makeTasks } from '../conformance/worker-pool.ts';

// Whoever runs this test listens on the other end.
Object.defineProperty(process, 'send', { value: undefined });

t.test('importing it does not make a worker of this process', async (t) => {
  t.equal(getPriority(), getPriority(process.ppid));
  t.equal(process.listenerCount('disconnect'), 0);
});

t.test('it answers with the outputs and their hashes', async (t) => {
  const answer = await run(await (await makeTasks(t)).short());
  const [output] = 'outputs' in answer ? madeBy(answer.outputs) : [];
  const bytes = await readFile(output?.path ?? '');
  t.match(output, { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
});

t.test('it answers with an error that survives JSON', async (t) => {
  const tasks = await makeTasks(t);
  const answer = await run(await tasks.short({ limits: { maxPixels: 1, maxSide: 1 } }));
  t.same(JSON.parse(JSON.stringify(answer)), {
    failure: {
      code: 'FILE_TOO_LARGE',
      message: 'photo.jpeg has 6000000 pixels; the limit is 1',
      details: { limit: 'pixels', max: 1, actual: 6_000_000, nodeId: 'node' },
    },
  });
  const files = [{ path: '/nowhere', mimeType: 'image/jpeg', fileName: 'a.jpg' }];
  t.match(await run(await tasks.short({ files })), {
    failure: { code: 'STORAGE_ERROR', message: 'The storage failed', cause: /\/nowhere/ },
  });
});

t.test('it runs what the registry knows and runs, nothing else', async (t) => {
  const tasks = await makeTasks(t);
  for (const kind of ['file-input', 'constructor', 'nothing']) {
    t.match(await run(await tasks.short({ kind })), { failure: { code: 'INTERNAL_ERROR' } }, kind);
  }
});

t.test('templates are expanded, and checked, where the node runs', async (t) => {
  const tasks = await makeTasks(t);
  const values = { params: { width: 20, wide: 'x' } };
  const answer = await run(await tasks.short({ options: { width: '{{params.width}}' }, values }));
  t.match('outputs' in answer && madeBy(answer.outputs), [{ meta: { width: 20 } }]);
  t.match(await run(await tasks.short({ options: { width: '{{params.wide}}' }, values })), {
    failure: {
      code: 'INVALID_PARAMS',
      message: 'option "width" must be integer',
      details: { option: 'width', nodeId: 'node' },
    },
  });
  t.match(await run(await tasks.short({ options: { width: '{{params.none}}' }, values })), {
    failure: { code: 'INVALID_PARAMS', details: { option: 'width', template: '{{params.none}}', nodeId: 'node' } },
  });
});

t.test('options that name a fact of a file are its own, and so is what comes of it', async (t) => {
  const tasks = await makeTasks(t);
  const [photo] = (await tasks.short()).files;
  const files = [10, 20].flatMap((small) => (photo === undefined ? [] : { ...photo, meta: { small } }));
  const answer = await run(await tasks.short({ files, options: { width: '{{meta.small}}' } }));
  const made = 'outputs' in answer ? madeBy(answer.outputs) : [];
  t.match(made, [{ meta: { width: 10 } }, { meta: { width: 20 } }]);
  t.not(made[0]?.path, made[1]?.path);
  for (const { path, size } of made) t.equal((await readFile(path)).length, size);
  t.match(await run(await tasks.short({ files: [], options: { width: '{{meta.small}}' } })), { outputs: [[]] });
});

t.test('a template that names the hash of a file gets that of its bytes', async (t) => {
  const tasks = await makeTasks(t);
  const [photo] = (await tasks.short()).files;
  const files = photo === undefined ? [] : [photo];
  const sha256 = createHash('sha256')
    .update(await readFile(photo?.path ?? ''))
    .digest('hex');
  const condition = (value: string) => ({ conditions: [{ field: 'params.expected', operator: 'eq', value }] });
  const ask = async (expected: string) =>
    run(
      await tasks.short({
        files,
        kind: 'conditional',
        options: condition('{{file.hash}}'),
        values: { params: { expected } },
      }),
    );
  t.strictSame(await ask(sha256), { outputs: [[{ passes: 0, handle: 'true' }]] });
  t.strictSame(await ask('0'), { outputs: [[{ passes: 0, handle: 'false' }]] });
});

t.test('a step of a chain has the facts of what the step before has made', async (t) => {
  const tasks = await makeTasks(t);
  const step = { kind: 'resize', intermediate: false };
  const chain = [
    { ...step, nodeId: 'small', options: { width: 60 } },
    { ...step, nodeId: 'square', options: { width: '{{meta.height}}', height: '{{meta.height}}', fit: 'fill' } },
  ];
  const answer = await run({ ...(await tasks.short()), chains: [chain] });
  t.match('outputs' in answer && madeBy(answer.outputs), [{ meta: { width: 40, height: 40 } }]);
});
