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
