import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { createScratch } from '../../src/engine/scratch.ts';
import { deliver, engineRig } from '../support/engine-rig.ts';
import { counting, edgesOf, flowOf, node, startWith, untilAborted } from '../support/step-flows.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { gate, until as reached } from '../support/wait.ts';

const never = new AbortController().signal;

t.test('a folder is there for the work, and gone after it, however that ends', async (t) => {
  const directory = join(await temporaryDirectory(t), 'scratch');
  const scratch = createScratch({ directory, max: 1e9, onError: (error) => t.error(error) });
  await scratch.clear();
  const work = async (path: string) => {
    await writeFile(join(path, 'a'), 'x');
    return readdir(directory);
  };
  t.strictSame(await scratch.within('one', never, work), ['one']);
  await t.rejects(
    scratch.within('two', never, () => Promise.reject(new Error('no'))),
    { message: 'no' },
  );
  t.strictSame(await readdir(directory), []);
  const outer = new AbortController();
  const stopped = scratch.within('three', outer.signal, async (_path, signal) => untilAborted(signal));
  outer.abort(new Error('stop'));
  await t.rejects(stopped, { message: 'stop' });
  await writeFile(join(directory, 'old'), 'x');
  await scratch.clear();
  t.strictSame(await readdir(directory), []);
});

t.test('over the bound the largest has to go, and the others stay', async (t) => {
  const directory = await temporaryDirectory(t);
  const scratch = createScratch({ directory, max: 1000, interval: 5, onError: (error) => t.error(error) });
  const done = gate();
  const hold = (name: string, size: number, until: (signal: AbortSignal) => Promise<unknown>) =>
    scratch.within(name, never, async (path, signal) => {
      await writeFile(join(path, 'a'), Buffer.alloc(size));
      await until(signal);
      return signal.aborted;
    });
  const small = hold('small', 400, () => done.passed);
  const large = hold('large', 601, untilAborted);
  await t.rejects(large, { code: 'RESOURCE_EXHAUSTED', details: { limit: 'scratch', max: 1000, actual: 1001 } });
  const other = hold('other', 600, () => done.passed);
  // By then it has been looked at several times.
  await new Promise((resolve) => setTimeout(resolve, 50));
  done.open();
  t.strictSame(await Promise.all([small, other]), [false, false], 'just the bound is not too much');
});

t.test('a node that has filled the scratch directory is tried again', async (t) => {
  const { script, runs } = counting(async (task, time, signal) => {
    if (time > 1) return deliver(task, 'x');
    await deliver(task, 'x'.repeat(2000));
    return untilAborted(signal);
  });
  const flow = flowOf({ a: node() }, edgesOf('in a'));
  const rig = await engineRig(t, { flows: [flow], script, scratchMax: 1000 });
  const job = await rig.until(await startWith(rig), 'completed', 'failed');
  t.strictSame([job.status, runs], ['completed', { a: 2 }]);
  t.ok((await rig.events(job.id)).includes('node_retrying a'));
  await reached(async () => (await readdir(join(rig.directory, 'scratch'))).length === 0);
});
